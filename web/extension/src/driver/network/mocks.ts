/**
 * Mocks: requests that are answered here, or fail, instead of going out.
 *
 * Decides which mock a request gets and writes its answer for the debugger. The newest mock that
 * fits wins. It keeps nothing; `tab-rules.ts` does.
 */

import { isRecord } from '../../check';
import { type Argument, listOf } from '../../command';
import type { MockReport } from '../../generated/command-results';
import { encodeText } from '../common/bytes';
import type { EventOf, ProtocolCommand } from '../common/protocol';
import { readUrlPattern, type UrlPattern } from './url-pattern';

type PausedRequest = EventOf<'Fetch.requestPaused'>;

export interface Mock {
  readonly url: string;
  readonly method?: string | undefined;
  readonly resourceType?: string | undefined;
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Fails as if something in the browser had blocked it. */
  readonly fail: boolean;
  /** How often it still answers; without end if absent. */
  readonly times?: number | undefined;
  /** How often it has answered. */
  readonly used: number;
  /** It came with `browser_intercept_requests`, which replaces all of these. */
  readonly isBlock?: true;
}

/** What is blocked. */
export interface BlockPattern {
  readonly urlPattern: string;
  readonly resourceType?: string;
}

/** Reads a list of what is blocked. */
export function urlPatterns(): Argument<readonly BlockPattern[]> {
  const wants = 'a list of {urlPattern, resourceType?}, such as [{"urlPattern": "*.png"}]';
  return listOf({ wants, isOptional: false, read: readBlockPattern }, wants);
}

function readBlockPattern(value: unknown): { readonly value: BlockPattern } | undefined {
  if (!isRecord(value)) return undefined;
  const { urlPattern, resourceType, ...odd } = value;
  const isType = resourceType === undefined || typeof resourceType === 'string';
  if (typeof urlPattern !== 'string' || !isType || Object.keys(odd).length > 0) return undefined;
  return { value: { urlPattern, ...(resourceType === undefined ? {} : { resourceType }) } };
}

export function reportMock({ url, method, resourceType, fail, ...mock }: Mock): MockReport {
  const { status, body, times, used } = mock;
  const answer = fail ? { fail: true as const } : { status, bodyLength: body.length };
  return { url, method, resourceType, ...answer, times, used };
}

const patterns = new Map<string, UrlPattern>();

function patternOf(url: string): UrlPattern {
  const known = patterns.get(url) ?? readUrlPattern('url', url);
  patterns.set(url, known);
  return known;
}

/** Returns the mock that a stopped request gets. */
export function mockFor(mocks: readonly Mock[], paused: PausedRequest): Mock | undefined {
  const { url, method } = paused.request;
  const resourceType = paused.resourceType.toLowerCase();
  return [...mocks]
    .reverse()
    .find(
      (mock) =>
        (mock.times ?? 1) > 0 &&
        (mock.method === undefined || mock.method === method) &&
        (mock.resourceType === undefined || mock.resourceType === resourceType) &&
        patternOf(mock.url).fits(url),
    );
}

/** Returns which requests the debugger has to stop, in its own words. */
export function stopsFor(mocks: readonly Mock[]): Array<{ urlPattern: string }> {
  const wanted = new Set(mocks.map(({ url }) => patternOf(url).wildcards));
  return [...wanted].map((urlPattern) => ({ urlPattern }));
}

/** Writes the answer of a mock. */
export function answerOf(mock: Mock, paused: PausedRequest): ProtocolCommand {
  const { requestId } = paused;
  if (mock.fail) {
    return { method: 'Fetch.failRequest', params: { requestId, errorReason: 'BlockedByClient' } };
  }
  const responseHeaders = headersOf(mock, paused).map(([name, value]) => ({ name, value }));
  return {
    method: 'Fetch.fulfillRequest',
    params: {
      requestId,
      responseCode: mock.status,
      responseHeaders,
      body: encodeText(mock.body),
    },
  };
}

function headersOf({ headers, body }: Mock, paused: PausedRequest): Array<[string, string]> {
  const given = Object.entries(headers);
  const has = (name: string) => given.some(([known]) => known.toLowerCase() === name);
  const more: Array<[string, string]> = [];
  if (!has('content-type')) more.push(['Content-Type', kindOf(body)]);
  const origin = originOf(paused.request.headers);
  // Another origin's page could not read the answer otherwise.
  if (origin !== undefined && !has('access-control-allow-origin')) {
    more.push(['Access-Control-Allow-Origin', origin]);
    more.push(['Access-Control-Allow-Credentials', 'true']);
  }
  return [...given, ...more];
}

function originOf(headers: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'origin')?.[1];
}

function kindOf(body: string): string {
  const start = body.trimStart();
  if (/^(?:<!doctype|<html)/i.test(start)) return 'text/html; charset=utf-8';
  try {
    JSON.parse(body);
    return 'application/json';
  } catch {
    return 'text/plain; charset=utf-8';
  }
}

/** Tells whether something kept is a mock. */
export function isMock(value: unknown): value is Mock {
  return (
    isRecord(value) &&
    typeof value.url === 'string' &&
    typeof value.status === 'number' &&
    typeof value.body === 'string' &&
    typeof value.fail === 'boolean' &&
    typeof value.used === 'number' &&
    isRecord(value.headers)
  );
}
