/**
 * Steps in a tab's history, every one of them; not to where clients may not go.
 *
 * `chrome.tabs.goBack` passes over pages that nobody has touched, and a page that a program has
 * opened and left is one of those; the debugger goes to the entry itself.
 */

import { CommandError } from '../../command';
import { attachIfPossible, type Page } from '../page/page';

/** Goes one entry back or forward; throws `NAVIGATION_FAILED` where there is none. */
export async function step(page: Page, by: -1 | 1): Promise<undefined> {
  if (await attachIfPossible(page)) await stepByEntry(page, by);
  else await stepByTab(page, by);
  return undefined;
}

async function stepByEntry(page: Page, by: -1 | 1): Promise<void> {
  const session = await page.session();
  const { currentIndex, entries } = await session.send('Page.getNavigationHistory');
  const entry = entries[currentIndex + by];
  if (entry === undefined) throw nowhere(by);
  await page.services.checkSite(entry.url);
  await session.send('Page.navigateToHistoryEntry', { entryId: entry.id });
}

async function stepByTab(page: Page, by: -1 | 1): Promise<void> {
  const go = by === -1 ? chrome.tabs.goBack : chrome.tabs.goForward;
  await go(page.tabId).catch(() => {
    throw nowhere(by);
  });
}

function nowhere(by: -1 | 1): CommandError {
  const where = by === -1 ? 'back' : 'forward';
  return new CommandError('NAVIGATION_FAILED', `there is no page to go ${where} to`);
}
