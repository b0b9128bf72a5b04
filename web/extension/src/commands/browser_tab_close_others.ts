/**
 * Command `browser_tab_close_others`: closes the client's other tabs, and no one else's.
 */

import { closeTab } from '../driver/navigation/close-tab';
import { defineCommand } from './define-command';

export default defineCommand(
  'browser_tab_close_others',
  async ({ tabId, client, services, limits }) => {
    const own = await services.tabsOf(client.id);
    const others = own.filter((other) => other !== tabId);
    const ends = await Promise.allSettled(others.map((other) => closeTab(other, limits)));
    return { closed: others.filter((_, at) => ends[at]?.status === 'fulfilled') };
  },
);
