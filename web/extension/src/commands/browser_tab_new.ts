/**
 * Command `browser_tab_new`: opens a tab in the client's group, in the background unless asked.
 *
 * Waits until its page is there, so that the next call finds it.
 */

import { checkPage } from '../driver/common/restricted-pages';
import { readAddress } from '../driver/navigation/journeys';
import { Watch } from '../driver/tab/signals';
import { defineCommand } from './define-command';

const BLANK = 'about:blank';
const LOAD_WITHIN_MS = 10_000;

export default defineCommand(
  'browser_tab_new',
  async ({ services, client, limits }, { url, active }) => {
    const address = url === undefined ? BLANK : readAddress(url);
    await checkPage(address, services);
    const { id } = await services.openTab({ url: address, active, client });
    if (id === undefined) throw new Error('Chrome gave the new tab no id');
    const watch = new Watch(id);
    try {
      // It may have loaded before anybody watched, and still say that it is loading: then it is
      // told as done later, and only that.
      const isComplete = (await chrome.tabs.get(id)).status === 'complete';
      const isThere = () =>
        isComplete || watch.loaded || watch.rested || watch.failed !== undefined || watch.closed;
      await watch.until(isThere, limits, LOAD_WITHIN_MS);
    } finally {
      watch.close();
    }
    const { pendingUrl, url: shown = address, title = '' } = await chrome.tabs.get(id);
    // An address may lead to another one.
    await services.checkSite(shown);
    return { tab: id, url: pendingUrl || shown || address, title };
  },
);
