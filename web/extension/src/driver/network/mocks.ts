/**
 * Mocks: requests that are answered here, or fail, instead of going out.
 *
 * Decides which mock a request gets and writes its answer for the debugger. The newest mock that
 * fits wins. It keeps nothing; `tab-rules.ts` does.
 */

import { isRecord } from '../../command';
import { type Fields, fieldsOf, textIn } from '../fields';
import { readUrlPattern, type UrlPattern } from './url-pattern';

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

/** A mock as it is told: its body in short. */
export interface MockReport {
  readonly url: string;
  readonly method?: string | undefined;
  readonly resourceType?: string | undefined;
  readonly status?: number | undefined;
  readonly fail?: true | undefined;
  readonly bodyLength?: number | undefined;
  readonly times?: number | undefined;
  readonly used: number;
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
export function mockFor(mocks: readonly Mock[], paused: Fields): Mock | undefined {
  const request = fieldsOf(paused.request);
  const url = textIn(request, 'url') ?? '';
  const method = textIn(request, 'method') ?? 'GET';
  const resourceType = (textIn(paused, 'resourceType') ?? 'other').toLowerCase();
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

/** What the debugger is told to do with a stopped request. */
export interface Decision {
  readonly method: string;
  readonly params: Fields;
}

/** Writes the answer of a mock. */
export function answerOf(mock: Mock, paused: Fields): Decision {
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
      body: toBase64(mock.body),
    },
  };
}

function headersOf({ headers, body }: Mock, paused: Fields): Array<[string, string]> {
  const given = Object.entries(headers);
  const has = (name: string) => given.some(([known]) => known.toLowerCase() === name);
  const more: Array<[string, string]> = [];
  if (!has('content-type')) more.push(['Content-Type', kindOf(body)]);
  const origin = originOf(fieldsOf(fieldsOf(paused.request).headers));
  // Another origin's page could not read the answer otherwise.
  if (origin !== undefined && !has('access-control-allow-origin')) {
    more.push(['Access-Control-Allow-Origin', origin]);
    more.push(['Access-Control-Allow-Credentials', 'true']);
  }
  return [...given, ...more];
}

function originOf(headers: Fields): string | undefined {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === 'origin');
  return name === undefined ? undefined : textIn(headers, name);
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

/** Writes text as base64 of its UTF-8 bytes. */
export function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const parts: string[] = [];
  // All at once would be more arguments than a call can have.
  for (let at = 0; at < bytes.length; at += 8192) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  }
  return btoa(parts.join(''));
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
