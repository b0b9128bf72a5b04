/**
 * Reads the debugger's `Network` events into the log of requests.
 *
 * A redirect is a request that ends and another that begins, under the same name. Headers as they
 * really went over the wire come apart, before or after what they belong to; the first of them
 * belongs to the first request of that name, and so on. A WebSocket ends when it stands.
 */

import { type Fields, fieldsOf, numberIn, textIn } from '../fields';
import { ATTACHED, DETACHED, onDebuggerEvent } from '../tab/debugger-events';
import type { Entry } from './request-entry';
import {
  addRequest,
  endRequest,
  forgetRequests,
  nextNumber,
  noteUnwatched,
  noteWatched,
  requestLogOf,
  restoreRequests,
} from './request-log';

interface Event {
  readonly tabId: number;
  readonly method: string;
  readonly params: Fields;
  readonly sessionId: string | undefined;
}

// What is sent inline beyond this is asked for when somebody wants it.
const LONGEST_POST = 16_000;
// Names whose headers may still come; older requests are found in the log.
const FOLLOWED = 300;

/** The requests of one name, and the headers that were told of them. */
interface Chain {
  readonly entries: Entry[];
  readonly sent: Fields[];
  readonly received: Fields[];
}

const chains = new Map<string, Chain>();
/** What came before the counter was read. */
let early: Event[] | undefined = [];
let restored: Promise<void> | undefined;

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerRequests(): void {
  onDebuggerEvent((tabId, method, params, sessionId) => {
    const isOurs = method === ATTACHED || method === DETACHED;
    if (!method.startsWith('Network.') && !isOurs) return;
    const event = { tabId, method, params, sessionId };
    if (early === undefined) take(event);
    else early.push(event);
  });
  chrome.tabs.onRemoved.addListener(forgetRequests);
  requestsReady().catch(() => {});
}

/** Settles when what an earlier worker left is known. */
export function requestsReady(): Promise<void> {
  restored ??= restoreRequests().finally(() => {
    const waiting = early ?? [];
    early = undefined;
    for (const event of waiting) take(event);
  });
  return restored;
}

function take({ tabId, method, params, sessionId }: Event): void {
  const requestId = textIn(params, 'requestId') ?? '';
  switch (method) {
    case ATTACHED:
      noteWatched(tabId);
      break;
    case DETACHED:
      noteUnwatched(tabId);
      break;
    case 'Network.requestWillBeSent':
      takeStart(tabId, requestId, params, sessionId);
      break;
    case 'Network.requestWillBeSentExtraInfo':
      takeHeaders(tabId, requestId, 'sent', fieldsOf(params.headers));
      break;
    case 'Network.responseReceivedExtraInfo':
      takeHeaders(tabId, requestId, 'received', fieldsOf(params.headers));
      break;
    case 'Network.requestServedFromCache':
      change(tabId, requestId, (entry) => {
        entry.fromCache = true;
      });
      break;
    case 'Network.responseReceived':
      change(tabId, requestId, (entry) => takeResponse(entry, fieldsOf(params.response)));
      break;
    case 'Network.loadingFinished':
      finish(tabId, requestId, params);
      break;
    case 'Network.loadingFailed':
      fail(tabId, requestId, params);
      break;
    default:
      takeSocket(tabId, method, requestId, params, sessionId);
  }
}

function takeStart(tabId: number, requestId: string, params: Fields, sessionId?: string): void {
  const redirect = params.redirectResponse;
  if (redirect !== undefined) {
    change(tabId, requestId, (entry) => {
      takeResponse(entry, fieldsOf(redirect));
      entry.redirected = true;
      end(tabId, entry, numberIn(params, 'timestamp'));
    });
  }
  const request = fieldsOf(params.request);
  const url = `${textIn(request, 'url') ?? ''}${textIn(request, 'urlFragment') ?? ''}`;
  const postData = textIn(request, 'postData');
  const number = nextNumber();
  const entry: Entry = {
    id: number,
    changed: number,
    requestId,
    ...(sessionId === undefined ? {} : { sessionId }),
    method: textIn(request, 'method') ?? 'GET',
    url,
    documentUrl: textIn(params, 'documentURL') ?? '',
    resourceType: (textIn(params, 'type') ?? 'other').toLowerCase(),
    startedAt: Math.round((numberIn(params, 'wallTime') ?? Date.now() / 1000) * 1000),
    began: numberIn(params, 'timestamp') ?? 0,
    details: {
      requestHeaders: fieldsOf(request.headers),
      hasPostData: request.hasPostData === true,
      ...(postData === undefined || postData.length > LONGEST_POST ? {} : { postData }),
    },
  };
  begin(tabId, entry);
}

function begin(tabId: number, entry: Entry): void {
  const chain = chainOf(tabId, entry.requestId);
  chain.entries.push(entry);
  addRequest(tabId, entry);
  joinHeaders(chain);
}

function takeResponse(entry: Entry, response: Fields): void {
  const status = numberIn(response, 'status');
  if (status !== undefined && status > 0) entry.status = status;
  const mimeType = textIn(response, 'mimeType');
  if (mimeType) entry.mimeType = mimeType;
  if (response.fromDiskCache === true || response.fromPrefetchCache === true) {
    entry.fromCache = true;
  }
  entry.changed = nextNumber();
  if (entry.details === undefined) return;
  entry.details.responseHeaders ??= fieldsOf(response.headers);
  entry.details.timing = fieldsOf(response.timing);
}

function finish(tabId: number, requestId: string, params: Fields): void {
  change(tabId, requestId, (entry) => {
    const bytes = numberIn(params, 'encodedDataLength');
    if (bytes !== undefined && bytes >= 0) entry.bytes = bytes;
    end(tabId, entry, numberIn(params, 'timestamp'));
  });
}

function fail(tabId: number, requestId: string, params: Fields): void {
  change(tabId, requestId, (entry) => {
    const blocked = textIn(params, 'blockedReason');
    const text = textIn(params, 'errorText') || 'failed';
    entry.error = blocked === undefined ? text : `${text} (blocked: ${blocked})`;
    end(tabId, entry, numberIn(params, 'timestamp'));
  });
}

function end(tabId: number, entry: Entry, at: number | undefined): void {
  if (at !== undefined) {
    entry.ms = Math.max(0, Math.round((at - entry.began) * 1000));
    noteReceiving(entry, at);
  }
  endRequest(tabId, entry);
}

function noteReceiving({ details }: Entry, at: number): void {
  const began = numberIn(details?.timing ?? {}, 'requestTime');
  const headers = numberIn(details?.timing ?? {}, 'receiveHeadersEnd');
  if (details === undefined || began === undefined || headers === undefined) return;
  details.receiveMs = Math.max(0, (at - began) * 1000 - headers);
}

function takeSocket(
  tabId: number,
  method: string,
  requestId: string,
  params: Fields,
  sessionId: string | undefined,
): void {
  switch (method) {
    case 'Network.webSocketCreated': {
      const number = nextNumber();
      const url = textIn(params, 'url') ?? '';
      const rest = { method: 'GET', url, documentUrl: '', resourceType: 'websocket' };
      const details = { requestHeaders: {}, hasPostData: false };
      const times = { startedAt: Date.now(), began: 0 };
      const session = sessionId === undefined ? {} : { sessionId };
      begin(tabId, {
        id: number,
        changed: number,
        requestId,
        ...session,
        ...rest,
        ...times,
        details,
      });
      break;
    }
    case 'Network.webSocketWillSendHandshakeRequest':
      change(tabId, requestId, ({ details }) => {
        if (details !== undefined)
          details.requestHeaders = fieldsOf(fieldsOf(params.request).headers);
      });
      break;
    case 'Network.webSocketHandshakeResponseReceived':
      change(tabId, requestId, (entry) => {
        takeResponse(entry, fieldsOf(params.response));
        endSocket(tabId, entry);
      });
      break;
    case 'Network.webSocketFrameError':
      change(tabId, requestId, (entry) => {
        if (entry.finished !== undefined) return;
        entry.error = textIn(params, 'errorMessage') ?? 'failed';
        endSocket(tabId, entry);
      });
      break;
    case 'Network.webSocketClosed':
      change(tabId, requestId, (entry) => endSocket(tabId, entry));
      break;
  }
}

function endSocket(tabId: number, entry: Entry): void {
  if (entry.finished !== undefined) return;
  entry.ms = Math.max(0, Date.now() - entry.startedAt);
  endRequest(tabId, entry);
}

function takeHeaders(tabId: number, requestId: string, way: 'received' | 'sent', headers: Fields) {
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
function change(tabId: number, requestId: string, work: (entry: Entry) => void): void {
  const chain = chains.get(`${tabId} ${requestId}`);
  const entry =
    chain?.entries.at(-1) ??
    [...requestLogOf(tabId).entries].reverse().find((known) => known.requestId === requestId);
  if (entry !== undefined) work(entry);
}

function chainOf(tabId: number, requestId: string): Chain {
  const key = `${tabId} ${requestId}`;
  const known = chains.get(key);
  if (known !== undefined) return known;
  const chain: Chain = { entries: [], sent: [], received: [] };
  chains.set(key, chain);
  // The oldest are long over.
  const [oldest] = chains.keys();
  if (chains.size > FOLLOWED && oldest !== undefined) chains.delete(oldest);
  return chain;
}
