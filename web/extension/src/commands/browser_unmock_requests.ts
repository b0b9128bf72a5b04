/**
 * Command `browser_unmock_requests`: ends the mocks of the tab, or those of one `url`.
 */

import { invalid } from '../command';
import { reportMock } from '../driver/network/mocks';
import { mocksOf, setMocks, takeEnding } from '../driver/network/tab-rules';
import { defineCommand } from './define-command';

export default defineCommand('browser_unmock_requests', async (page, { url }) => {
  const before = mocksOf(page.tabId);
  const left = url === undefined ? [] : before.filter((mock) => mock.url !== url);
  if (url !== undefined && left.length === before.length) throw noSuchMock(url, before);
  if (before.length > 0) {
    await setMocks(page, left);
  }
  const note = takeEnding(page.tabId);
  return {
    removed: before.length - left.length,
    mocks: left.map(reportMock),
    ...(note === undefined ? {} : { note }),
  };
});

function noSuchMock(url: string, mocks: ReadonlyArray<{ readonly url: string }>) {
  const known = [...new Set(mocks.map((mock) => mock.url))].slice(0, 10);
  const list = known.length === 0 ? 'this tab has none' : `there are ${known.join(', ')}`;
  return invalid(`url: no mock of this tab has the url ${url}; ${list}`);
}
