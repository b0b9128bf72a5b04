/**
 * Command `browser_tab_close`: closes the tab.
 */

import { closeTab } from '../driver/navigation/close-tab';
import { defineCommand } from './define-command';

export default defineCommand('browser_tab_close', async (page) => {
  await closeTab(page.tabId, page.limits);
  return { closed: page.tabId };
});
