/**
 * Makes a sleeping tab able to answer: one that Chrome froze or threw out of memory.
 *
 * Tabs of a collapsed group freeze within seconds, and an injection then never answers.
 */

import { CommandError } from '../../command';
import { pause } from '../common/time-limits';
import { Watch } from '../tab/signals';
import type { Page } from './page';

const THAW_WITHIN_MS = 1_000;
const RELOAD_WITHIN_MS = 10_000;
const NO_GROUP = -1;

/** Wakes a tab if it sleeps. */
export async function wakeTab(page: Page, tab: chrome.tabs.Tab): Promise<void> {
  if (tab.discarded) await reload(page);
  else if (tab.frozen) await thaw(page, tab);
}

async function reload(page: Page): Promise<void> {
  const watch = new Watch(page.tabId);
  try {
    await chrome.tabs.reload(page.tabId);
    // One that cannot be loaded shows an error page, which the call meets itself.
    const isOver = () => watch.loaded || watch.failed !== undefined || watch.closed;
    await watch.until(isOver, page.limits, RELOAD_WITHIN_MS);
  } finally {
    watch.close();
  }
}

async function thaw(page: Page, tab: chrome.tabs.Tab): Promise<void> {
  if (tab.groupId !== NO_GROUP) {
    await chrome.tabGroups.update(tab.groupId, { collapsed: false });
  }
  const endsAt = performance.now() + THAW_WITHIN_MS;
  while (performance.now() < endsAt) {
    if (!(await page.tab()).frozen) return;
    await pause(page.limits, 10);
  }
  throw new CommandError(
    'PAGE_UNRESPONSIVE',
    'Chrome has put this tab to sleep; wake it with browser_tab_activate',
  );
}
