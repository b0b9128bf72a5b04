/**
 * Command `browser_tab_close`: closes the tab.
 */

import { defineCommand } from '../command';
import { closeTab } from '../driver/navigation/close-tab';

export default defineCommand({
  name: 'browser_tab_close',
  effect: 'act',
  on: 'tab',
  args: {},

  async run(page) {
    await closeTab(page.tabId, page.limits);
    return { closed: page.tabId };
  },
});
