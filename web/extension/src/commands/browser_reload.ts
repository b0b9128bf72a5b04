/**
 * Command `browser_reload`: loads the page again.
 */

import { boolean, defineCommand, optional } from '../command';
import { travel } from '../driver/navigation/journeys';
import { attachIfPossible } from '../driver/page/page';

export default defineCommand({
  name: 'browser_reload',
  effect: 'act',
  on: 'site',
  args: { ignoreCache: optional(boolean(), false) },

  async run(page, { ignoreCache }) {
    await attachIfPossible(page);
    const start = async () => {
      await chrome.tabs.reload(page.tabId, { bypassCache: ignoreCache });
      return undefined;
    };
    return travel(page, { waitUntil: 'load', start });
  },
});
