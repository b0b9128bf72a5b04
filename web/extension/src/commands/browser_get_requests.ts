/**
 * Command `browser_get_requests`: which requests the tab has made, newest last.
 *
 * The log begins when the tab is first driven and has gaps where the debugger let go;
 * `watchedSince` says since when nothing was missed. With `since` come those that began, changed
 * or ended after an earlier answer's `next`.
 */

import { reportRequest } from '../driver/network/request-entry';
import { cursor, keepRequests, requestLogOf } from '../driver/network/request-log';
import { readWanted, visibleRequests, watchRequests } from '../driver/network/request-view';
import { mocksOf, takeEnding } from '../driver/network/tab-rules';
import { defineCommand } from './define-command';

export default defineCommand('browser_get_requests', async (page, { since, limit, ...wanted }) => {
  const fits = readWanted(wanted);
  await watchRequests(page);
  const all = await visibleRequests(page);
  const found = all.filter((entry) => entry.changed > since && fits(entry));
  await keepRequests();
  const { forgotten, watchedSince } = requestLogOf(page.tabId);
  const note = takeEnding(page.tabId);
  const mocks = mocksOf(page.tabId).length;
  return {
    requests: found.slice(-limit).map(reportRequest),
    next: cursor(),
    older: Math.max(0, found.length - limit),
    ...(forgotten === 0 ? {} : { forgotten }),
    watchedSince,
    ...(mocks === 0 ? {} : { mocks }),
    ...(note === undefined ? {} : { note }),
  };
});
