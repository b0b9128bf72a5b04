/**
 * Command `browser_get_console_logs`: what the page wrote to its console, with its exceptions.
 */

import { boolean, defineCommand, oneOf, optional } from '../command';
import { clearConsole, type LogEntry, mayRead, readConsole } from '../driver/reading/console';

export default defineCommand({
  name: 'browser_get_console_logs',
  effect: 'read',
  args: {
    level: optional(oneOf('all', 'debug', 'log', 'info', 'warning', 'error'), 'all'),
    clear: optional(boolean(), false),
  },

  async run(page, { level, clear }) {
    const kept = await page.guard(readConsole(await page.session()), 10_000);
    const all: LogEntry[] = [];
    // Those of documents that were left are kept too, and of frames.
    for (const entry of kept) if (await mayRead(page, entry)) all.push(entry);
    const logs = level === 'all' ? all : all.filter((entry) => entry.level === level);
    if (clear) clearConsole(page.tabId);
    return { logs, count: logs.length };
  },
});
