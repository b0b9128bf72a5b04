/**
 * A page for tests of the driver: what a command gets, without a command.
 */

import type { Services } from '../../src/driver/common/services';
import { Page } from '../../src/driver/page/page';
import { fakeServices } from './fake-services';

/** Makes a page of a tab; its call has a minute. */
export function fakePage(
  tabId: number,
  more: Partial<Services> = {},
  signal = new AbortController().signal,
): Page {
  const limits = { signal, endsAt: performance.now() + 60_000 };
  return new Page(tabId, { client: { id: 'x', name: 'X' }, services: fakeServices(more), limits });
}
