/**
 * Command `browser_get_request`: one request of the log with timing, headers and bodies.
 *
 * Values that log somebody in are masked. A body that is no text comes as a file.
 */

import { defineCommand, integer, oneOf, optional, string } from '../command';
import { headersOf, receivedBody, sentBody, timingOf } from '../driver/network/request-details';
import { reportRequest } from '../driver/network/request-entry';
import { findRequest, watchRequests } from '../driver/network/request-view';

const USUAL = 8_000;
const MOST = 1_000_000;

export default defineCommand({
  name: 'browser_get_request',
  effect: 'read',
  args: {
    id: string(),
    part: optional(oneOf('headers', 'body', 'response')),
    maxLength: optional(integer({ least: 1, most: MOST }), USUAL),
  },

  async run(page, { id, part, maxLength }) {
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
  },
});
