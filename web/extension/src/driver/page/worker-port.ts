/**
 * Asks driven pages to keep a port to the worker, which wakes it within a moment when it dies.
 *
 * Once per document; a new document is asked at its first act.
 */

import { TOP } from './content-calls';
import type { Page } from './page';

const asked = new Set<number>();

/** Asks a page, unless it was asked already; nothing waits for it. */
export function keepAwake(page: Page): void {
  const { tabId } = page;
  if (asked.has(tabId)) return;
  asked.add(tabId);
  page.call({ where: TOP, method: 'keepAwake', args: [] }).catch(() => asked.delete(tabId));
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerAwake(): void {
  chrome.webNavigation.onCommitted.addListener(({ tabId, frameId, documentLifecycle }) => {
    if (frameId === 0 && documentLifecycle !== 'prerender') asked.delete(tabId);
  });
  chrome.tabs.onRemoved.addListener((tabId) => {
    asked.delete(tabId);
  });
}
