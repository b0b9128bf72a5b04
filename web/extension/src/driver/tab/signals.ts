/**
 * What happens to a tab, from all of Chrome's sources, as one stream of small facts.
 *
 * In come webNavigation, tabs, downloads and debugger events; out go `Signal`s per tab to whoever
 * listens. `Watch` remembers what came since it was opened, so that nothing falls between two
 * waits. It decides nothing; `effect-wait.ts` does.
 */

import type { EventOf } from '../common/protocol';
import { deferred, type Limits, within } from '../common/time-limits';
import { onDebuggerEvent, topFrames } from './debugger-events';
import { TabPart } from './tab-state';

/** A JavaScript dialog. */
export interface Dialog {
  readonly type: string;
  readonly message: string;
  readonly defaultValue?: string;
}

export interface Download {
  readonly id: number;
  readonly filename: string;
  readonly url: string;
}

export interface TabAddress {
  readonly tab: number;
  readonly url: string;
}

export type Signal =
  | { readonly type: 'dialogOpened'; readonly dialog: Dialog }
  | { readonly type: 'dialogClosed' }
  /** The top frame is on its way to another document. */
  | { readonly type: 'navigating'; readonly url: string }
  | {
      readonly type: 'committed';
      readonly url: string;
      readonly frameId: number;
      readonly documentId: string;
    }
  | { readonly type: 'domReady' }
  /** A document of the tab, of whichever frame, has been parsed. */
  | { readonly type: 'parsed' }
  | { readonly type: 'loaded' }
  /** The tab shows itself as done, which it does a moment after its page has loaded. */
  | { readonly type: 'rested' }
  /** `at` is when, in milliseconds since 1970: the failure of an earlier load may be told late. */
  | { readonly type: 'failed'; readonly url: string; readonly error: string; readonly at: number }
  | { readonly type: 'sameDocument'; readonly url: string }
  /** The top document's response has begun. */
  | { readonly type: 'response'; readonly status: number }
  | { readonly type: 'windowOpened' }
  | { readonly type: 'newTab'; readonly newTab: TabAddress }
  | { readonly type: 'downloading' }
  | { readonly type: 'download'; readonly download: Download }
  | { readonly type: 'requestStarted'; readonly id: string; readonly awaited: boolean }
  | { readonly type: 'requestEnded'; readonly id: string }
  | { readonly type: 'detached'; readonly reason: string }
  | { readonly type: 'closed' };

type SignalListener = (signal: Signal) => void;

const listeners = new TabPart<Set<SignalListener>>(['tab'], (all) => {
  for (const listener of [...all]) listener({ type: 'closed' });
});

/** Tells all who listen to a tab. */
export function emitSignal(tabId: number, signal: Signal): void {
  for (const listener of [...(listeners.get(tabId) ?? [])]) listener(signal);
}

/** Listens to a tab until the returned function is called. */
export function listen(tabId: number, listener: SignalListener): () => void {
  const set = listeners.ensure(tabId, () => new Set()).add(listener);
  return () => {
    set.delete(listener);
    if (set.size === 0 && listeners.get(tabId) === set) listeners.delete(tabId);
  };
}

/** What has happened to a tab since the watch was opened. */
export class Watch {
  dialog: Dialog | undefined;
  /** Whether the top frame has set out since. */
  setOut = false;
  /** Where the top frame is on its way to; nothing when it is not. */
  goingTo: string | undefined;
  committed: { readonly url: string; readonly documentId: string } | undefined;
  domReady = false;
  /** How many documents, of frames too, have been parsed. */
  parsed = 0;
  loaded = false;
  rested = false;
  failed: { readonly url: string; readonly error: string; readonly at: number } | undefined;
  sameDocument = false;
  status: number | undefined;
  windowOpened = false;
  newTab: TabAddress | undefined;
  downloading = false;
  download: Download | undefined;
  detached: string | undefined;
  closed = false;
  /** Requests seen, by either of the two sources that see them. */
  readonly #seen = { network: 0, web: 0 };
  readonly #pending = new Set<string>();
  readonly #waiters = new Set<() => void>();
  readonly #stop: () => void;

  constructor(tabId: number) {
    this.#stop = listen(tabId, (signal) => this.take(signal));
  }

  /** Whether the top frame is on its way to another document. */
  get navigating(): boolean {
    return this.goingTo !== undefined;
  }

  /** How many requests started. */
  get requests(): number {
    return Math.max(this.#seen.network, this.#seen.web);
  }

  /** How many of the requests that started are still worth waiting for. */
  get pending(): number {
    return this.#pending.size;
  }

  close(): void {
    this.#stop();
  }

  /** Waits until `isSo`; returns whether it came true within the limits. */
  async until(isSo: () => boolean, limits: Limits, limitMs: number): Promise<boolean> {
    if (isSo()) return true;
    const { promise, resolve } = deferred<boolean>();
    const check = () => {
      if (isSo()) resolve(true);
    };
    this.#waiters.add(check);
    try {
      return await within(promise, limits, limitMs, () => new Late());
    } catch (error) {
      if (error instanceof Late) return false;
      throw error;
    } finally {
      this.#waiters.delete(check);
    }
  }

  /** Notes one signal. */
  take(signal: Signal): void {
    this.#note(signal);
    this.recheck();
  }

  /** Lets those who wait look again, when what they wait for is not a signal. */
  recheck(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  #note(signal: Signal): void {
    switch (signal.type) {
      case 'dialogOpened':
        this.dialog = signal.dialog;
        break;
      case 'dialogClosed':
        this.dialog = undefined;
        break;
      case 'navigating':
        this.setOut = true;
        this.goingTo = signal.url;
        this.failed = undefined;
        break;
      case 'committed':
        this.#noteCommit(signal);
        break;
      case 'domReady':
        this.domReady = true;
        break;
      case 'parsed':
        this.parsed++;
        break;
      case 'loaded':
        this.domReady = true;
        this.loaded = true;
        break;
      case 'rested':
        this.#noteRest();
        break;
      case 'failed':
        this.#noteFailure(signal);
        break;
      case 'sameDocument':
        this.sameDocument = true;
        // A navigation that was announced can turn out to stay in its document.
        this.goingTo = undefined;
        break;
      case 'response':
        this.status = signal.status;
        break;
      case 'windowOpened':
        this.windowOpened = true;
        break;
      case 'newTab':
        this.newTab = signal.newTab;
        break;
      case 'downloading':
        this.downloading = true;
        this.goingTo = undefined;
        break;
      case 'download':
        this.download = signal.download;
        break;
      case 'requestStarted':
        this.#seen[signal.id.startsWith('w') ? 'web' : 'network']++;
        if (signal.awaited) this.#pending.add(signal.id);
        break;
      case 'requestEnded':
        this.#pending.delete(signal.id);
        break;
      case 'detached':
        this.detached = signal.reason;
        break;
      case 'closed':
        this.closed = true;
        break;
      default:
        signal satisfies never;
    }
  }

  #noteRest(): void {
    this.rested = true;
    // A page that is stopped while it loads has no other end; one that is being left has its own.
    if (this.committed === undefined || this.goingTo !== undefined) return;
    this.domReady = true;
    this.loaded = true;
  }

  #noteFailure(signal: Extract<Signal, { type: 'failed' }>): void {
    // A page that is left while it still loads is told as aborted, after the new journey's start.
    const isOfAnother = this.goingTo !== undefined && this.goingTo !== signal.url;
    if (isOfAnother && signal.error === 'net::ERR_ABORTED') return;
    this.goingTo = undefined;
    this.failed = signal;
  }

  #noteCommit(signal: Extract<Signal, { type: 'committed' }>): void {
    if (signal.frameId !== 0) return;
    this.goingTo = undefined;
    this.failed = undefined;
    this.committed = signal;
    this.domReady = false;
    this.loaded = false;
    this.rested = false;
    // What the old document asked for nobody waits for any more.
    this.#pending.clear();
  }
}

class Late extends Error {}

/** Starts to listen to Chrome; once, synchronously, when the worker starts. */
export function registerSignals(): void {
  registerNavigation();
  registerTabs();
  registerDownloads();
  onDebuggerEvent('Page.frameRequestedNavigation', takeNavigation);
  onDebuggerEvent('Page.frameStartedNavigating', takeNavigation);
  onDebuggerEvent('Page.windowOpen', (tabId) => emitSignal(tabId, { type: 'windowOpened' }));
  onDebuggerEvent('Page.downloadWillBegin', takeDownload);
}

function registerNavigation(): void {
  const { webNavigation } = chrome;
  webNavigation.onBeforeNavigate.addListener(({ tabId, frameId, url, documentLifecycle }) => {
    if (frameId === 0 && documentLifecycle !== 'prerender') {
      emitSignal(tabId, { type: 'navigating', url });
    }
  });
  webNavigation.onCommitted.addListener((details) => {
    const { tabId, frameId, url, documentId, documentLifecycle } = details;
    if (documentLifecycle === 'prerender') return;
    emitSignal(tabId, { type: 'committed', url, frameId, documentId: documentId ?? '' });
  });
  webNavigation.onDOMContentLoaded.addListener(({ tabId, frameId }) => {
    if (frameId === 0) emitSignal(tabId, { type: 'domReady' });
    emitSignal(tabId, { type: 'parsed' });
  });
  webNavigation.onCompleted.addListener(({ tabId, frameId }) => {
    if (frameId === 0) emitSignal(tabId, { type: 'loaded' });
  });
  webNavigation.onErrorOccurred.addListener(({ tabId, frameId, url, error, timeStamp }) => {
    if (frameId === 0) emitSignal(tabId, { type: 'failed', url, error, at: timeStamp });
  });
  for (const event of [
    webNavigation.onHistoryStateUpdated,
    webNavigation.onReferenceFragmentUpdated,
  ]) {
    event.addListener(({ tabId, frameId, url }) => {
      if (frameId === 0) emitSignal(tabId, { type: 'sameDocument', url });
    });
  }
  webNavigation.onCreatedNavigationTarget.addListener(({ sourceTabId, tabId, url }) => {
    emitSignal(sourceTabId, { type: 'newTab', newTab: { tab: tabId, url } });
  });
}

function registerTabs(): void {
  chrome.tabs.onCreated.addListener(({ id, openerTabId, pendingUrl, url }) => {
    if (id === undefined || openerTabId === undefined) return;
    const newTab = { tab: id, url: pendingUrl ?? url ?? '' };
    emitSignal(openerTabId, { type: 'newTab', newTab });
  });
  chrome.tabs.onUpdated.addListener((tabId, { status }) => {
    if (status === 'complete') emitSignal(tabId, { type: 'rested' });
  });
}

// Chrome does not say which tab a download belongs to; the debugger does, but knows no id. Both
// tell the address, in either order and within a millisecond of each other, if nothing is busy.
const MATCH_WITHIN_MS = 10_000;
const begun: Array<{ tabId: number; url: string; filename: string; at: number }> = [];
const created: Array<{ id: number; url: string; at: number }> = [];

function registerDownloads(): void {
  chrome.downloads.onCreated.addListener(({ id, url, startTime }) => {
    // A worker that starts is told of old downloads too.
    if (Date.now() - Date.parse(startTime) > MATCH_WITHIN_MS) return;
    created.push({ id, url, at: Date.now() });
    matchDownloads();
  });
}

function matchDownloads(): void {
  const since = Date.now() - MATCH_WITHIN_MS;
  for (const list of [begun, created]) {
    while (list[0] !== undefined && list[0].at < since) list.shift();
  }
  for (const [place, { tabId, url, filename }] of begun.entries()) {
    const at = created.findIndex((item) => item.url === url);
    const item = created[at];
    if (item === undefined) continue;
    begun.splice(place, 1);
    created.splice(at, 1);
    emitSignal(tabId, { type: 'download', download: { id: item.id, filename, url } });
    return;
  }
}

/** What the debugger tells of a navigation that is asked for, and of one that begins. */
interface AnnouncedNavigation {
  readonly frameId: string;
  readonly url: string;
  readonly disposition?: string;
  readonly navigationType?: string;
}

function takeNavigation(tabId: number, navigation: AnnouncedNavigation): void {
  const { frameId, url, disposition = 'currentTab', navigationType: type = '' } = navigation;
  if (frameId !== topFrames.get(tabId) || disposition !== 'currentTab') return;
  // Addresses of other programs (`mailto:`) are never committed.
  if (/sameDocument/i.test(type) || !/^(?:https?|file|blob|data|about|ftp):/i.test(url)) return;
  // Whether a requested fragment stays in its document is known only at the start.
  if (type === '' && url.includes('#')) return;
  emitSignal(tabId, { type: 'navigating', url });
}

function takeDownload(
  tabId: number,
  { url, suggestedFilename: filename }: EventOf<'Page.downloadWillBegin'>,
): void {
  begun.push({ tabId, url, filename, at: Date.now() });
  emitSignal(tabId, { type: 'downloading' });
  matchDownloads();
}
