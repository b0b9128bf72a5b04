/**
 * Asks driven pages to keep a port to the worker, which wakes it within a moment when it dies.
 *
 * Once per document; a new document is asked at its first act.
 */

import { TabPart } from '../tab/tab-state';
import { TOP } from './content-calls';
import type { Page } from './page';

const asked = new TabPart<true>(['document']);

/** Asks a page, unless it was asked already; nothing waits for it. */
export function requestWorkerPort(page: Page): void {
  const { tabId } = page;
  if (asked.has(tabId)) return;
  asked.set(tabId, true);
  page.call({ where: TOP, method: 'keepAwake', args: [] }).catch(() => asked.delete(tabId));
}
