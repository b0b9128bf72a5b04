/**
 * Command `browser_get_request`: one request of the log with timing, headers and bodies.
 *
 * Values that log somebody in are masked. A body that is no text comes as a file.
 */

import { headersOf, receivedBody, sentBody, timingOf } from '../driver/network/request-details';
import { reportRequest } from '../driver/network/request-entry';
import { findRequest, watchRequests } from '../driver/network/request-view';
import { defineCommand } from './define-command';

export default defineCommand('browser_get_request', async (page, { id, part, maxLength }) => {
  await watchRequests(page);
  const entry = await findRequest(page, id);
  const withHeaders = part === undefined || part === 'headers';
  const withSent = part === undefined || part === 'body';
  const withReceived = part !== 'headers';
  return {
    ...reportRequest(entry),
    ...(withHeaders ? { timing: timingOf(entry), ...headersOf(entry) } : {}),
    ...(withSent ? await sentBody(page, entry, maxLength) : {}),
    ...(withReceived ? await receivedBody(page, entry, maxLength) : {}),
  };
});
