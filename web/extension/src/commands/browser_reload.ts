/**
 * Command `browser_reload`: loads the page again.
 */

import { travel } from '../driver/navigation/journeys';
import { attachIfPossible } from '../driver/page/page';
import { defineCommand } from './define-command';

export default defineCommand('browser_reload', async (page, { ignoreCache }) => {
  await attachIfPossible(page);
  const start = async () => {
    await chrome.tabs.reload(page.tabId, { bypassCache: ignoreCache });
    return undefined;
  };
  return travel(page, { waitUntil: 'load', start });
});
