/**
 * Command `browser_navigate`: goes to an address and waits until its page is there.
 */

import { checkPage } from '../driver/common/restricted-pages';
import { type Journey, readAddress, travel } from '../driver/navigation/journeys';
import { attachIfPossible, type Page } from '../driver/page/page';
import { defineCommand } from './define-command';

export default defineCommand('browser_navigate', async (page, { url, waitUntil, timeoutMs }) => {
  const address = readAddress(url);
  await checkPage(address, page.services);
  return travel(page, { waitUntil, timeoutMs, ...(await starter(page, address)) });
});

/** Through the debugger where it gets in: it can answer a page that asks whether to leave. */
async function starter(page: Page, url: string): Promise<Pick<Journey, 'to' | 'start'>> {
  const isAttachable = await attachIfPossible(page);
  if (!isAttachable) {
    const start = async () => {
      await chrome.tabs.update(page.tabId, { url });
      return undefined;
    };
    return { start };
  }
  const start = async () => {
    const session = await page.session();
    return (await session.send('Page.navigate', { url })).errorText;
  };
  return { to: url, start };
}
