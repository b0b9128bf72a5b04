/**
 * Command `browser_wait_for_request`: returns when a request to an address has ended.
 *
 * Only requests that end from now on count, or with `since` those after an earlier answer's
 * `next`. One that failed has ended too.
 */

import { CommandError } from '../command';
import { answerable, deferred, within } from '../driver/common/time-limits';
import { type RequestEntry, reportRequest } from '../driver/network/request-entry';
import { cursor, keepRequests, onRequestEnd } from '../driver/network/request-log';
import { maySee, readWanted, visibleRequests, watchRequests } from '../driver/network/request-view';
import { defineCommand } from './define-command';

const PATIENCE_MS = 10_000;

export default defineCommand(
  'browser_wait_for_request',
  async (page, { url, method, since, timeoutMs }) => {
    const fits = readWanted({ url, method });
    const { promise, resolve } = deferred<RequestEntry>();
    const began = performance.now();
    const stop = onRequestEnd((tabId, entry) => {
      if (tabId !== page.tabId || !fits(entry)) return;
      maySee(page, entry).then((isSeen) => isSeen && resolve(entry));
    });
    const late = () => {
      const waited = Math.round(performance.now() - began);
      return new CommandError(
        'TIMEOUT',
        `no request to ${url} ended within ${waited} ms; browser_network requests lists those ` +
          'there were, and with its next as since earlier ones count too',
      );
    };
    try {
      await watchRequests(page);
      if (since !== undefined) {
        const known = (await visibleRequests(page)).find(
          (entry) => (entry.finished ?? 0) > since && fits(entry),
        );
        if (known !== undefined) resolve(known);
      }
      const waitMs = answerable(page.limits, timeoutMs);
      const found = within(promise, page.limits, waitMs, late);
      const entry = await page.guard(found, waitMs + PATIENCE_MS);
      await keepRequests();
      return { ...reportRequest(entry), next: cursor() };
    } finally {
      stop();
    }
  },
);
