/**
 * One request in full: timing, headers, and what was sent and came back.
 *
 * Bodies are asked of Chrome when somebody wants them; it keeps the newest ones of each process, and
 * what it has no more is said plainly. Text is cut to what was asked for; anything else is a file.
 */

import { messageOf } from '../../check';
import type { RequestDetail, RequestTiming } from '../../generated/command-results';
import { decodeBytes } from '../common/bytes';
import type { ResultOf } from '../common/protocol';
import type { Page } from '../page/page';
import { sendToChild } from '../tab/child-sessions';
import { maskPasswords, showHeaders } from './headers';
import type { RequestEntry } from './request-entry';

type Part = Partial<RequestDetail>;

/** Bytes of a body that is no text. */
export const LARGEST_FILE = 4 * 1024 * 1024;
const ANSWER_WITHIN_MS = 10_000;

/** Returns how long each part of a request took, in milliseconds. */
export function timingOf({ details }: RequestEntry): RequestTiming | undefined {
  const timing = details?.timing;
  if (timing === undefined) return undefined;
  return {
    dns: span(timing.dnsStart, timing.dnsEnd),
    connect: span(timing.connectStart, timing.connectEnd),
    tls: span(timing.sslStart, timing.sslEnd),
    wait: span(timing.sendEnd, timing.receiveHeadersEnd),
    receive: details?.receiveMs === undefined ? undefined : round(details.receiveMs),
  };
}

function span(start: number, end: number): number | undefined {
  return start < 0 || end < start ? undefined : round(end - start);
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}

/** Returns the headers of both ways, as they may be shown. */
export function headersOf({ details }: RequestEntry): Part {
  if (details === undefined) return { headers: DETAILS_LOST };
  const { requestHeaders, responseHeaders } = details;
  return {
    requestHeaders: showHeaders(requestHeaders),
    ...(responseHeaders === undefined ? {} : { responseHeaders: showHeaders(responseHeaders) }),
  };
}

const DETAILS_LOST = "not kept: the extension's worker was restarted since; make the request again";

/** Returns what was sent. */
export async function sentBody(page: Page, entry: RequestEntry, most: number): Promise<Part> {
  const { details, requestId, sessionId } = entry;
  if (details !== undefined && !details.hasPostData) return {};
  try {
    const ask = () =>
      sendToChild(page.tabId, sessionId, 'Network.getRequestPostData', { requestId });
    const body = details?.postData ?? (await page.guard(ask(), ANSWER_WITHIN_MS)).postData;
    return cut('requestBody', maskPasswords(body), most);
  } catch (error) {
    // A worker that died does not know whether there was any.
    return details === undefined ? {} : { requestBody: `not available: ${reason(error)}` };
  }
}

/** Returns what came back. */
export async function receivedBody(page: Page, entry: RequestEntry, most: number): Promise<Part> {
  const why = whyNoBody(entry);
  if (why !== undefined) return { responseBodyNote: why };
  const { requestId, sessionId } = entry;
  let answer: ResultOf<'Network.getResponseBody'>;
  try {
    const asking = sendToChild(page.tabId, sessionId, 'Network.getResponseBody', { requestId });
    answer = await page.guard(asking, ANSWER_WITHIN_MS);
  } catch (error) {
    return { responseBodyNote: `the browser has it no more: ${reason(error)}` };
  }
  const { body, base64Encoded } = answer;
  if (body === '' && lengthOf(entry) > 0) return { responseBodyNote: BODY_UNSEEN };
  if (!base64Encoded) return cut('responseBody', body, most);
  if (isText(entry.mimeType)) return cut('responseBody', decoded(body), most);
  return fileOf(entry, body);
}

// What a page takes as a `Blob` goes past the debugger.
const BODY_UNSEEN = 'the browser did not keep it, as with what a page reads as a blob';

function lengthOf({ details }: RequestEntry): number {
  const headers = Object.entries(details?.responseHeaders ?? {});
  const length = headers.find(([name]) => name.toLowerCase() === 'content-length');
  return Number(length?.[1] ?? 0);
}

function whyNoBody({ finished, redirected, resourceType, error, status }: RequestEntry) {
  if (redirected) return 'a redirect; its body is not kept';
  if (resourceType === 'websocket') return 'a WebSocket has no body';
  if (error !== undefined && status === undefined) return `none came: ${error}`;
  if (finished === undefined) return 'not there yet: the request is still under way';
  return undefined;
}

function fileOf({ url, mimeType }: RequestEntry, data: string): Part {
  const bytes = Math.floor((data.replace(/=+$/, '').length * 3) / 4);
  if (bytes === 0) return { responseBody: '' };
  if (bytes > LARGEST_FILE) {
    const note = `left out: ${bytes} bytes are more than the ${LARGEST_FILE} that are passed on`;
    return { responseBodyNote: note };
  }
  const file = { mimeType: plainType(mimeType), data, name: nameOf(url) };
  return { file };
}

function plainType(mimeType = ''): string {
  return /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/i.test(mimeType) ? mimeType : 'application/octet-stream';
}

function nameOf(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  return (path.split('/').pop() || 'body').slice(0, 100);
}

function isText(mimeType = ''): boolean {
  return /^text\/|json|javascript|xml(?!.*officedocument)|x-www-form-urlencoded/i.test(mimeType);
}

function decoded(base64: string): string {
  return new TextDecoder().decode(decodeBytes(base64));
}

function cut(name: 'requestBody' | 'responseBody', text: string, most: number): Part {
  if (text.length <= most) return { [name]: text };
  return { [name]: text.slice(0, most), [`${name}LeftOut`]: text.length - most };
}

// A refused command rejects with JSON as its message.
function reason(error: unknown): string {
  const message = messageOf(error);
  return /"message"\s*:\s*"([^"]+)"/.exec(message)?.[1] ?? message;
}
