/**
 * Command `browser_set_headers`: headers that go along with every request of the tab.
 *
 * They take the place of those set before; none at all ends it.
 */

import { checkHeaders } from '../driver/network/headers';
import { headersOf, setHeaders, takeEnding } from '../driver/network/tab-rules';
import { defineCommand } from './define-command';

export default defineCommand('browser_set_headers', async (page, { headers }) => {
  checkHeaders(headers, true);
  await setHeaders(page, headers);
  const note = takeEnding(page.tabId);
  return {
    headers: Object.keys(headersOf(page.tabId)),
    ...(note === undefined ? {} : { note }),
  };
});
