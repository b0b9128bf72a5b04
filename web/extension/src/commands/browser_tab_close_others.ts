/**
 * Command `browser_tab_close_others`: closes the client's other tabs, and no one else's.
 */

import { defineCommand } from '../command';
import { closeTab } from '../driver/navigation/close-tab';

export default defineCommand({
  name: 'browser_tab_close_others',
  effect: 'act',
  on: 'tab',
  args: {},

  async run({ tabId, client, services, limits }) {
    const own = await services.tabsOf(client.id);
    const others = own.filter((other) => other !== tabId);
    const ends = await Promise.allSettled(others.map((other) => closeTab(other, limits)));
    return { closed: others.filter((_, at) => ends[at]?.status === 'fulfilled') };
  },
});
