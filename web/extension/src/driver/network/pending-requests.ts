/**
 * Which requests of a tab are on their way.
 *
 * Two sources, because neither sees all: the debugger's `Network` misses frames of other
 * processes, `webRequest` misses what a page's service worker answers. A request counts while
 * either says so. Streams (sockets, event sources, media, beacons) are never waited for.
 */

import type { EventOf } from '../common/protocol';
import { onDebuggerEvent } from '../tab/debugger-events';
import { emitSignal } from '../tab/signals';
import { TabPart } from '../tab/tab-state';

// What a page's next state usually hangs on; pictures and fonts come when they come.
const AWAITED = new Set([
  'Document',
  'Fetch',
  'Script',
  'Stylesheet',
  'XHR',
  'script',
  'stylesheet',
  'sub_frame',
  'xmlhttprequest',
]);
const STREAMS = new Set([
  'EventSource',
  'Media',
  'Ping',
  'Prefetch',
  'WebSocket',
  'csp_report',
  'media',
  'ping',
  'websocket',
  'webtransport',
]);

interface Pending {
  readonly ids: Set<string>;
  /** On the clock of `performance.now()`, while there are none. */
  idleSince: number;
}

const pending = new TabPart<Pending>(['tab']);

/** Returns for how many milliseconds a tab has had no request on its way. */
export function idleFor(tabId: number): number {
  const { ids, idleSince } = pending.get(tabId) ?? noRequests();
  return ids.size > 0 ? 0 : performance.now() - idleSince;
}

function noRequests(): Pending {
  return { ids: new Set(), idleSince: 0 };
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerPendingRequests(): void {
  registerWebRequest();
  onDebuggerEvent('Network.requestWillBeSent', takeStart);
  onDebuggerEvent('Network.responseReceived', (tabId, { requestId, response }) => {
    if (response.mimeType === 'text/event-stream') end(tabId, `n${requestId}`);
  });
  for (const name of ['Network.loadingFinished', 'Network.loadingFailed'] as const) {
    onDebuggerEvent(name, (tabId, { requestId }) => end(tabId, `n${requestId}`));
  }
  onDebuggerEvent('Tabwire.detached', (tabId) => {
    if (pending.has(tabId)) drop(tabId, (id) => id.startsWith('n'));
  });
  chrome.webNavigation.onCommitted.addListener(({ tabId, frameId, documentLifecycle }) => {
    // The requests of the old document are not always reported as ended.
    if (frameId === 0 && documentLifecycle !== 'prerender') drop(tabId, () => true);
  });
}

function registerWebRequest(): void {
  const all = { urls: ['<all_urls>'] };
  chrome.webRequest.onBeforeRequest.addListener(({ tabId, requestId, type }) => {
    if (tabId >= 0) start(tabId, `w${requestId}`, type);
    return undefined;
  }, all);
  chrome.webRequest.onResponseStarted.addListener(
    ({ tabId, requestId, type, statusCode, responseHeaders, frameId }) => {
      if (type === 'main_frame' && frameId === 0) {
        emitSignal(tabId, { type: 'response', status: statusCode });
      }
      const kind = responseHeaders?.find(({ name }) => name.toLowerCase() === 'content-type');
      if (kind?.value?.startsWith('text/event-stream')) end(tabId, `w${requestId}`);
    },
    all,
    ['responseHeaders'],
  );
  for (const event of [chrome.webRequest.onCompleted, chrome.webRequest.onErrorOccurred]) {
    event.addListener(({ tabId, requestId }) => end(tabId, `w${requestId}`), all);
  }
}

function takeStart(
  tabId: number,
  { requestId, loaderId, type = 'Other' }: EventOf<'Network.requestWillBeSent'>,
): void {
  // A navigation has its own signals, and its request belongs to the document before.
  const isTopDocument = type === 'Document' && requestId === loaderId;
  const id = `n${requestId}`;
  // A redirect is the same request again.
  if (!isTopDocument && pending.get(tabId)?.ids.has(id) !== true) start(tabId, id, type);
}

function start(tabId: number, id: string, type: string): void {
  if (STREAMS.has(type) || type === 'main_frame') return;
  pending.ensure(tabId, noRequests).ids.add(id);
  emitSignal(tabId, { type: 'requestStarted', id, awaited: AWAITED.has(type) });
}

function end(tabId: number, id: string): void {
  const requests = pending.get(tabId);
  if (requests?.ids.delete(id) !== true) return;
  requests.idleSince = performance.now();
  emitSignal(tabId, { type: 'requestEnded', id });
}

function drop(tabId: number, isGone: (id: string) => boolean): void {
  const requests = pending.ensure(tabId, noRequests);
  for (const id of [...requests.ids]) if (isGone(id)) end(tabId, id);
  requests.idleSince = performance.now();
}
