/**
 * One request of a tab as it is remembered, and as it is told.
 *
 * The part that is told in lists is small and is kept over the death of the worker; `details`
 * (headers, timing, what was sent) are only in memory.
 */

import { isRecord } from '../../check';
import type { RequestReport } from '../../generated/command-results';
import type { Protocol } from '../common/protocol';

export interface Details {
  requestHeaders: Protocol.Network.Headers;
  responseHeaders?: Protocol.Network.Headers;
  /** Chrome's own, in milliseconds after its `requestTime`. */
  timing?: Protocol.Network.ResourceTiming;
  receiveMs?: number;
  postData?: string;
  hasPostData: boolean;
}

export interface RequestEntry {
  /** Never given again while the browser runs; larger than that of any earlier request. */
  readonly id: number;
  /** The debugger's names of it. */
  readonly requestId: string;
  readonly sessionId?: string | undefined;
  readonly method: string;
  readonly url: string;
  /** The document that asked. */
  readonly documentUrl: string;
  readonly resourceType: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Seconds on the debugger's clock. */
  readonly began: number;
  status?: number;
  error?: string;
  ms?: number;
  bytes?: number;
  mimeType?: string;
  fromCache?: true;
  /** It led to another request, so that it has no body. */
  redirected?: true;
  /** The debugger let go before it ended. */
  lost?: true;
  /** The place in the log of its last change, and of its end. */
  changed: number;
  finished?: number;
  details?: Details;
}

/** The kinds of requests there are, in lower case. */
export const RESOURCE_TYPES = [
  'document',
  'stylesheet',
  'image',
  'media',
  'font',
  'script',
  'texttrack',
  'xhr',
  'fetch',
  'prefetch',
  'eventsource',
  'websocket',
  'manifest',
  'signedexchange',
  'ping',
  'cspviolationreport',
  'preflight',
  'other',
] as const;

const LONGEST_URL = 2_000;

/** Tells a request in short. */
export function reportRequest(entry: RequestEntry): RequestReport {
  const { id, method, url, resourceType, startedAt } = entry;
  const { status, error, ms, bytes, mimeType, fromCache, lost } = entry;
  return {
    id: String(id),
    method,
    url: shortUrl(url),
    resourceType,
    startedAt,
    status,
    error,
    ms,
    bytes,
    mimeType,
    fromCache,
    lost,
  };
}

/** Whether a request went wrong; one that the page gave up itself did not. */
export function isFailed({ status = 0, error }: RequestEntry): boolean {
  return status >= 400 || (error !== undefined && error !== 'net::ERR_ABORTED');
}

/** Cuts an address that would be longer than the rest of the answer, as `data:` ones are. */
export function shortUrl(url: string): string {
  return url.length > LONGEST_URL ? `${url.slice(0, LONGEST_URL)}…` : url;
}

/** Tells whether something kept is a request. */
export function isRequestEntry(value: unknown): value is RequestEntry {
  return (
    isRecord(value) &&
    ['id', 'startedAt', 'began', 'changed'].every((name) => typeof value[name] === 'number') &&
    ['requestId', 'method', 'url', 'documentUrl', 'resourceType'].every(
      (name) => typeof value[name] === 'string',
    )
  );
}
