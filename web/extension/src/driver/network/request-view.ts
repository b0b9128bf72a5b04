/**
 * Requests as a call may see them: those of its tab, without sites that the user keeps from
 * clients, picked by what the call asks for.
 */

import { CommandError, invalid } from '../../command';
import { mayUse } from '../common/services';
import type { Page } from '../page/page';
import { followFrames } from '../tab/child-sessions';
import type { Session } from '../tab/debugger';
import { RESOURCE_TYPES, type RequestEntry } from './request-entry';
import { requestLogOf } from './request-log';
import { requestsReady } from './request-reader';
import { readUrlPattern } from './url-pattern';

/** What a request must be. */
export interface Wanted {
  readonly url?: string | undefined;
  readonly method?: string | undefined;
  readonly resourceType?: string | undefined;
  readonly status?: number | undefined;
}

/** Makes sure that a tab's requests are seen from now on, in all frames. */
export async function watchRequests(page: Page): Promise<Session> {
  await requestsReady();
  const session = await page.session();
  page.limits.signal.throwIfAborted();
  await page.guard(followFrames(session, false), 10_000);
  return session;
}

/** Reads what a request must be; throws `INVALID_ARGUMENT`. */
export function readWanted({ url, method, resourceType, status }: Wanted) {
  const pattern = url === undefined ? undefined : readUrlPattern('url', url);
  const wantedMethod = method === undefined ? undefined : readMethod(method);
  const type = resourceType === undefined ? undefined : readResourceType(resourceType);
  return (entry: RequestEntry): boolean =>
    (pattern === undefined || pattern.fits(entry.url)) &&
    (wantedMethod === undefined || entry.method === wantedMethod) &&
    (type === undefined || entry.resourceType === type) &&
    (status === undefined || entry.status === status);
}

export function readMethod(method: string): string {
  if (!/^[a-z-]{1,20}$/i.test(method)) {
    throw invalid(`method must be one such as GET or POST, not ${JSON.stringify(method)}`);
  }
  return method.toUpperCase();
}

export function readResourceType(name: string): string {
  const type = RESOURCE_TYPES.find((known) => known === name.toLowerCase());
  if (type !== undefined) return type;
  throw invalid(
    `resourceType must be one of ${RESOURCE_TYPES.join(', ')}, not ${JSON.stringify(name)}`,
  );
}

/** Returns the requests of the call's tab that it may see, oldest first. */
export async function visibleRequests(page: Page): Promise<RequestEntry[]> {
  const { entries } = requestLogOf(page.tabId);
  const seen = await Promise.all(entries.map((entry) => maySee(page, entry)));
  return entries.filter((_, place) => seen[place]);
}

/** Whether a call may see a request: neither its site nor that of who asked is denied. */
export function maySee({ services }: Page, { url, documentUrl }: RequestEntry): Promise<boolean> {
  return mayUse(services, url, documentUrl);
}

/** Returns one request by its number. */
export async function findRequest(page: Page, id: string): Promise<RequestEntry> {
  const entries = await visibleRequests(page);
  const entry = entries.find((known) => String(known.id) === id);
  if (entry !== undefined) return entry;
  throw new CommandError(
    'NO_SUCH_REQUEST',
    `this tab's log has no request ${JSON.stringify(id)}; browser_network requests lists the ` +
      'numbers that it has',
  );
}
