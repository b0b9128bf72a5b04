/**
 * Command `browser_go_back`: goes one page back in the tab's history.
 */

import { CommandError, defineCommand } from '../command';
import { travel } from '../driver/navigate';
import { attachIfPossible } from '../driver/page';

export default defineCommand({
  name: 'browser_go_back',
  effect: 'act',
  on: 'tab',
  args: {},

  async run(page) {
    await attachIfPossible(page);
    const start = async () => {
      await chrome.tabs.goBack(page.tabId).catch(() => {
        throw new CommandError('NAVIGATION_FAILED', 'there is no page to go back to');
      });
      return undefined;
    };
    return travel(page, { waitUntil: 'load', fromHistory: true, start });
  },
});
