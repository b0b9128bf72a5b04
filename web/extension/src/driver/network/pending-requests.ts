/**
 * Which requests of a tab are on their way.
 *
 * Two sources, because neither sees all: the debugger's `Network` misses frames of other
 * processes, `webRequest` misses what a page's service worker answers. A request counts while
 * either says so. Streams (sockets, event sources, media, beacons) are never waited for.
 */

import { type Fields, fieldsOf, textIn } from '../fields';
import { onDebuggerEvent } from '../tab/debugger-events';
import { emitSignal } from '../tab/signals';

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

const flying = new Map<number, Set<string>>();
const idleSince = new Map<number, number>();

/** Returns for how many milliseconds a tab has had no request on its way. */
export function idleFor(tabId: number): number {
  if ((flying.get(tabId)?.size ?? 0) > 0) return 0;
  return performance.now() - (idleSince.get(tabId) ?? 0);
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerNetwork(): void {
  registerWebRequest();
  onDebuggerEvent(takeEvent);
  chrome.tabs.onRemoved.addListener((tabId) => {
    flying.delete(tabId);
    idleSince.delete(tabId);
  });
  chrome.debugger.onDetach.addListener(({ tabId }) => {
    if (tabId !== undefined) drop(tabId, (id) => id.startsWith('n'));
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

function takeEvent(tabId: number, method: string, params: Fields): void {
  const id = `n${textIn(params, 'requestId') ?? ''}`;
  switch (method) {
    case 'Network.requestWillBeSent':
      // A redirect is the same request again.
      if (flying.get(tabId)?.has(id) !== true && !isTopDocument(params)) {
        start(tabId, id, textIn(params, 'type') ?? 'Other');
      }
      break;
    case 'Network.responseReceived':
      if (textIn(fieldsOf(params.response), 'mimeType') === 'text/event-stream') end(tabId, id);
      break;
    case 'Network.loadingFinished':
    case 'Network.loadingFailed':
      end(tabId, id);
      break;
  }
}

// A navigation has its own signals, and its request belongs to the document before.
function isTopDocument(params: Fields): boolean {
  return (
    textIn(params, 'type') === 'Document' &&
    textIn(params, 'requestId') === textIn(params, 'loaderId')
  );
}

function start(tabId: number, id: string, type: string): void {
  if (STREAMS.has(type) || type === 'main_frame') return;
  const set = flying.get(tabId) ?? new Set();
  flying.set(tabId, set.add(id));
  emitSignal(tabId, { type: 'requestStarted', id, awaited: AWAITED.has(type) });
}

function end(tabId: number, id: string): void {
  const set = flying.get(tabId);
  if (set?.delete(id) !== true) return;
  if (set.size === 0) idleSince.set(tabId, performance.now());
  emitSignal(tabId, { type: 'requestEnded', id });
}

function drop(tabId: number, isGone: (id: string) => boolean): void {
  for (const id of [...(flying.get(tabId) ?? [])]) {
    if (isGone(id)) end(tabId, id);
  }
  idleSince.set(tabId, performance.now());
}
