/**
 * Command `browser_get_console_logs`: what the page wrote to its console, with its exceptions.
 */

import { clearConsole, type LogEntry, mayRead, readConsole } from '../driver/reading/console';
import { defineCommand } from './define-command';

export default defineCommand('browser_get_console_logs', async (page, { level, clear }) => {
  const kept = await page.guard(readConsole(await page.session()), 10_000);
  const all: LogEntry[] = [];
  // Those of documents that were left are kept too, and of frames.
  for (const entry of kept) if (await mayRead(page, entry)) all.push(entry);
  const logs = level === 'all' ? all : all.filter((entry) => entry.level === level);
  if (clear) clearConsole(page.tabId);
  return { logs, count: logs.length };
});
