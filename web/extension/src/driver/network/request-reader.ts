/**
 * Reads the debugger's `Network` events into the log of requests.
 *
 * A redirect is a request that ends and another that begins, under the same name. Headers as they
 * really went over the wire come apart, before or after what they belong to; the first of them
 * belongs to the first request of that name, and so on. A WebSocket ends when it stands.
 */

import type { EventName, EventOf, Protocol } from '../common/protocol';
import { onDebuggerEvent } from '../tab/debugger-events';
import { TabPart } from '../tab/tab-state';
import type { RequestEntry } from './request-entry';
import {
  addRequest,
  endRequest,
  nextNumber,
  noteUnwatched,
  noteWatched,
  requestLogOf,
  restoreRequests,
} from './request-log';

// What is sent inline beyond this is asked for when somebody wants it.
const LONGEST_POST = 16_000;
// Names whose headers may still come; older requests are found in the log.
const FOLLOWED_REQUESTS = 300;

type Headers = Readonly<Record<string, string>>;

/** The requests of one name, and the headers that were told of them. */
interface Chain {
  readonly entries: RequestEntry[];
  readonly sent: Headers[];
  readonly received: Headers[];
}

/** By the debugger's names of requests. */
const chains = new TabPart<Map<string, Chain>>(['attachment']);
/** What came before the counter was read. */
let early: Array<() => void> | undefined = [];
let restored: Promise<void> | undefined;

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerRequests(): void {
  on('Tabwire.attached', noteWatched);
  on('Tabwire.detached', noteUnwatched);
  on('Network.requestWillBeSent', takeStart);
  on('Network.requestWillBeSentExtraInfo', (tabId, { requestId, headers }) => {
    takeHeaders(tabId, requestId, 'sent', headers);
  });
  on('Network.responseReceivedExtraInfo', (tabId, { requestId, headers }) => {
    takeHeaders(tabId, requestId, 'received', headers);
  });
  on('Network.requestServedFromCache', (tabId, { requestId }) => {
    change(tabId, requestId, (entry) => {
      entry.fromCache = true;
    });
  });
  on('Network.responseReceived', (tabId, { requestId, response }) => {
    change(tabId, requestId, (entry) => takeResponse(entry, response));
  });
  on('Network.loadingFinished', finish);
  on('Network.loadingFailed', fail);
  registerSockets();
  requestsReady().catch(() => {});
}

/** Hears an event once the counter is read. */
function on<E extends EventName>(
  name: E,
  take: (tabId: number, params: EventOf<E>, sessionId: string | undefined) => void,
): void {
  onDebuggerEvent(name, (...event) => {
    if (early === undefined) take(...event);
    else early.push(() => take(...event));
  });
}

/** Settles when what an earlier worker left is known. */
export function requestsReady(): Promise<void> {
  restored ??= restoreRequests().finally(() => {
    const waiting = early ?? [];
    early = undefined;
    for (const take of waiting) take();
  });
  return restored;
}

function takeStart(
  tabId: number,
  params: EventOf<'Network.requestWillBeSent'>,
  sessionId: string | undefined,
): void {
  const { requestId, request, redirectResponse, timestamp } = params;
  if (redirectResponse !== undefined) {
    change(tabId, requestId, (entry) => {
      takeResponse(entry, redirectResponse);
      entry.redirected = true;
      end(tabId, entry, timestamp);
    });
  }
  const { method, urlFragment = '', headers, postData = '', hasPostData = false } = request;
  begin(tabId, {
    ...newEntry(requestId, sessionId),
    method,
    url: `${request.url}${urlFragment}`,
    documentUrl: params.documentURL,
    resourceType: (params.type ?? 'other').toLowerCase(),
    startedAt: Math.round(params.wallTime * 1000),
    began: timestamp,
    details: {
      requestHeaders: headers,
      hasPostData,
      ...(postData === '' || postData.length > LONGEST_POST ? {} : { postData }),
    },
  });
}

function newEntry(requestId: string, sessionId: string | undefined) {
  const id = nextNumber();
  return { id, changed: id, requestId, ...(sessionId === undefined ? {} : { sessionId }) };
}

function begin(tabId: number, entry: RequestEntry): void {
  const chain = chainOf(tabId, entry.requestId);
  chain.entries.push(entry);
  addRequest(tabId, entry);
  joinHeaders(chain);
}

function takeResponse(entry: RequestEntry, response: Protocol.Network.Response): void {
  const { status, mimeType, fromDiskCache, fromPrefetchCache, headers, timing } = response;
  if (status > 0) entry.status = status;
  if (mimeType) entry.mimeType = mimeType;
  if (fromDiskCache || fromPrefetchCache) entry.fromCache = true;
  entry.changed = nextNumber();
  if (entry.details === undefined) return;
  entry.details.responseHeaders ??= headers;
  if (timing !== undefined) entry.details.timing = timing;
}

function finish(
  tabId: number,
  { requestId, encodedDataLength: bytes, timestamp }: EventOf<'Network.loadingFinished'>,
): void {
  change(tabId, requestId, (entry) => {
    if (bytes >= 0) entry.bytes = bytes;
    end(tabId, entry, timestamp);
  });
}

function fail(tabId: number, failure: EventOf<'Network.loadingFailed'>): void {
  const { requestId, blockedReason, errorText, timestamp } = failure;
  change(tabId, requestId, (entry) => {
    const text = errorText || 'failed';
    entry.error = blockedReason === undefined ? text : `${text} (blocked: ${blockedReason})`;
    end(tabId, entry, timestamp);
  });
}

function end(tabId: number, entry: RequestEntry, at: number): void {
  entry.ms = Math.max(0, Math.round((at - entry.began) * 1000));
  const { details } = entry;
  if (details?.timing !== undefined) {
    const { requestTime, receiveHeadersEnd } = details.timing;
    details.receiveMs = Math.max(0, (at - requestTime) * 1000 - receiveHeadersEnd);
  }
  endRequest(tabId, entry);
}

function registerSockets(): void {
  on('Network.webSocketCreated', (tabId, { requestId, url }, sessionId) => {
    begin(tabId, {
      ...newEntry(requestId, sessionId),
      method: 'GET',
      url,
      documentUrl: '',
      resourceType: 'websocket',
      startedAt: Date.now(),
      began: 0,
      details: { requestHeaders: {}, hasPostData: false },
    });
  });
  on('Network.webSocketWillSendHandshakeRequest', (tabId, { requestId, request }) => {
    change(tabId, requestId, ({ details }) => {
      if (details !== undefined) details.requestHeaders = request.headers;
    });
  });
  on('Network.webSocketHandshakeResponseReceived', (tabId, { requestId, response }) => {
    change(tabId, requestId, (entry) => {
      entry.status = response.status;
      entry.changed = nextNumber();
      if (entry.details !== undefined) entry.details.responseHeaders ??= response.headers;
      endSocket(tabId, entry);
    });
  });
  on('Network.webSocketFrameError', (tabId, { requestId, errorMessage }) => {
    change(tabId, requestId, (entry) => {
      if (entry.finished !== undefined) return;
      entry.error = errorMessage;
      endSocket(tabId, entry);
    });
  });
  on('Network.webSocketClosed', (tabId, { requestId }) => {
    change(tabId, requestId, (entry) => endSocket(tabId, entry));
  });
}

function endSocket(tabId: number, entry: RequestEntry): void {
  if (entry.finished !== undefined) return;
  entry.ms = Math.max(0, Date.now() - entry.startedAt);
  endRequest(tabId, entry);
}

function takeHeaders(tabId: number, requestId: string, way: 'received' | 'sent', headers: Headers) {
  const chain = chainOf(tabId, requestId);
  chain[way].push(headers);
  joinHeaders(chain);
}

function joinHeaders({ entries, sent, received }: Chain): void {
  for (const [place, { details }] of entries.entries()) {
    const [out, back] = [sent[place], received[place]];
    if (details === undefined) continue;
    if (out !== undefined) details.requestHeaders = out;
    if (back !== undefined) details.responseHeaders = back;
  }
}

/** Changes the newest request of a name, in a worker that knows it or did before it died. */
function change(tabId: number, requestId: string, work: (entry: RequestEntry) => void): void {
  const chain = chains.get(tabId)?.get(requestId);
  const entry =
    chain?.entries.at(-1) ??
    [...requestLogOf(tabId).entries].reverse().find((known) => known.requestId === requestId);
  if (entry !== undefined) work(entry);
}

function chainOf(tabId: number, requestId: string): Chain {
  const all = chains.ensure(tabId, () => new Map());
  const known = all.get(requestId);
  if (known !== undefined) return known;
  const chain: Chain = { entries: [], sent: [], received: [] };
  all.set(requestId, chain);
  // The oldest are long over.
  const [oldest] = all.keys();
  if (all.size > FOLLOWED_REQUESTS && oldest !== undefined) all.delete(oldest);
  return chain;
}
