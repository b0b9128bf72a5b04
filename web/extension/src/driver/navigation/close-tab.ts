/**
 * Closing tabs, which a page may object to.
 */

import type { Limits } from '../common/time-limits';
import { dialogOpen } from '../tab/dialogs';
import { Watch } from '../tab/signals';

const CLOSE_WITHIN_MS = 3_000;

/** Closes a tab; throws `DIALOG_OPEN` when its page asks whether to leave. */
export async function closeTab(tabId: number, limits: Limits): Promise<void> {
  const watch = new Watch(tabId);
  try {
    // Removing does not answer while the page asks.
    const removing = chrome.tabs.remove(tabId);
    const isDecided = () => watch.closed || watch.dialog !== undefined;
    await Promise.all([
      watch.until(isDecided, limits, CLOSE_WITHIN_MS),
      Promise.race([removing, watch.until(isDecided, limits, CLOSE_WITHIN_MS)]),
    ]);
    if (watch.dialog !== undefined && !watch.closed) throw dialogOpen(watch.dialog);
  } finally {
    watch.close();
  }
}
