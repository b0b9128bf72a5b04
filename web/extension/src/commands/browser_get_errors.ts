/**
 * Command `browser_get_errors`: what went wrong in the page, in short.
 *
 * Exceptions that nobody caught, errors of the console, each text once with how often it came, and
 * requests that failed.
 */

import { isFailed, type RequestEntry, reportRequest } from '../driver/network/request-entry';
import { keepRequests } from '../driver/network/request-log';
import { visibleRequests, watchRequests } from '../driver/network/request-view';
import { type LogEntry, mayRead, readConsole } from '../driver/reading/console';
import type { PageError } from '../generated/command-results';
import { defineCommand } from './define-command';

const MOST = 20;
const LONGEST_TEXT = 1_000;

export default defineCommand('browser_get_errors', async (page) => {
  const session = await watchRequests(page);
  const logs = await page.guard(readConsole(session), 10_000);
  const failed = (await visibleRequests(page)).filter(isFailed);
  await keepRequests();
  const told = new Set(failed.map(({ url }) => url));
  const errors: LogEntry[] = [];
  for (const entry of logs) {
    if (entry.level !== 'error' || isToldBy(told, entry)) continue;
    if (await mayRead(page, entry)) errors.push(entry);
  }
  const pageErrors = grouped(errors.filter(({ uncaught }) => uncaught === true));
  const consoleErrors = grouped(errors.filter(({ uncaught }) => uncaught !== true));
  return {
    pageErrors: pageErrors.slice(-MOST),
    pageErrorsLeftOut: leftOut(pageErrors),
    errors: consoleErrors.slice(-MOST),
    errorsLeftOut: leftOut(consoleErrors),
    failedRequests: failed.slice(-MOST).map(failure),
    failedRequestsLeftOut: leftOut(failed),
  };
});

// Chrome writes every failed request to the console as well.
function isToldBy(failed: ReadonlySet<string>, { text, url = '' }: LogEntry): boolean {
  return text.startsWith('Failed to load resource') && failed.has(url);
}

function grouped(entries: readonly LogEntry[]): PageError[] {
  const groups = new Map<string, PageError & { count: number }>();
  for (const { text, url, line } of entries) {
    const known = groups.get(text);
    if (known !== undefined) known.count++;
    else groups.set(text, { text: shortened(text), count: 1, url, line });
  }
  return [...groups.values()];
}

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

function failure(entry: RequestEntry) {
  const { id, method, url, status, error } = reportRequest(entry);
  return { id, method, url, status, error };
}

/** How many of a list are left out, where that are any. */
function leftOut(list: readonly unknown[]): number | undefined {
  return list.length > MOST ? list.length - MOST : undefined;
}
