/**
 * Command `browser_tab_activate`: brings the tab and its window to the front.
 */

import { defineCommand } from './define-command';

export default defineCommand('browser_tab_activate', async ({ tabId }) => {
  const tab = await chrome.tabs.update(tabId, { active: true });
  if (tab?.windowId !== undefined) await chrome.windows.update(tab.windowId, { focused: true });
  return { tab: tabId, active: true };
});
