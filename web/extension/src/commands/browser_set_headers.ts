/**
 * Command `browser_set_headers`: headers that go along with every request of the tab.
 *
 * They take the place of those set before; none at all ends it.
 */

import { defineCommand, stringMap } from '../command';
import { checkHeaders } from '../driver/network/headers';
import { headersOf, setHeaders, takeEnding } from '../driver/network/tab-rules';

export default defineCommand({
  name: 'browser_set_headers',
  effect: 'act',
  args: { headers: stringMap() },

  async run(page, { headers }) {
    checkHeaders(headers, true);
    await setHeaders(page, headers);
    const note = takeEnding(page.tabId);
    return {
      headers: Object.keys(headersOf(page.tabId)),
      ...(note === undefined ? {} : { note }),
    };
  },
});
