/**
 * The requests of each tab, while the debugger is attached to it.
 *
 * In come starts, changes and ends from `request-reader.ts`; out go lists and news of ends. One
 * counter gives requests their numbers and changes their place, and no number is given twice: it
 * is kept ahead in `storage.session`, together with the newest requests in short, at the latest when
 * they are told and usually within half a second. What a worker knew beyond that dies with it.
 */

import { isId, isRecord } from '../../check';
import { Kept } from '../../storage';
import { ignore } from '../common/time-limits';
import { KeptTabPart, TabPart, tabsRestored } from '../tab/tab-state';
import { isRequestEntry, type RequestEntry } from './request-entry';

/** Requests of a tab that are remembered; and those that outlive the worker. */
export const REMEMBERED_REQUESTS = 500;
const KEPT_REQUESTS = 100;
const KEEP_AFTER_MS = 500;
// So many numbers are set aside at once.
const RESERVED_NUMBERS = 1_000;
const LONGEST_KEPT_URL = 500;

export interface RequestLog {
  /** Oldest first. */
  entries: RequestEntry[];
  /** How many were forgotten because there were too many. */
  forgotten: number;
  /** Since when every request was seen, in milliseconds since 1970; nothing when none is. */
  watchedSince?: number | undefined;
}

type EndListener = (tabId: number, entry: RequestEntry) => void;

const logs = new KeptTabPart<RequestLog>('requests', {
  lifetimes: ['tab'],
  read: (kept) => (isLog(kept) ? kept : undefined),
  pack: small,
});
/** Tabs whose log has changed since it was kept. */
const unsaved = new TabPart<true>(['tab']);
const keptCounter = new Kept('session', 'driver.requests.counter', isId);
const endListeners = new Set<EndListener>();
let isSaving = false;
let counter = 0;
let reservedUpTo = 0;

/** Returns a tab's log. */
export function requestLogOf(tabId: number): RequestLog {
  const known = logs.get(tabId);
  if (known !== undefined) return known;
  const log: RequestLog = { entries: [], forgotten: 0 };
  logs.setUnkept(tabId, log);
  return log;
}

/** Returns the place of the newest change: what comes later is larger. */
export function cursor(): number {
  return counter;
}

/** Takes the next number. */
export function nextNumber(): number {
  counter++;
  if (counter >= reservedUpTo) reserve();
  return counter;
}

/** Adds a request that has begun. */
export function addRequest(tabId: number, entry: RequestEntry): void {
  const log = requestLogOf(tabId);
  log.entries.push(entry);
  const tooMany = log.entries.length - REMEMBERED_REQUESTS;
  if (tooMany > 0) {
    log.entries.splice(0, tooMany);
    log.forgotten += tooMany;
  }
  saveSoon(tabId);
}

/** Notes that a request has ended, and tells who waits for it. */
export function endRequest(tabId: number, entry: RequestEntry): void {
  if (entry.finished !== undefined) return;
  entry.finished = nextNumber();
  entry.changed = entry.finished;
  saveSoon(tabId);
  for (const listener of [...endListeners]) listener(tabId, entry);
}

/** Hears the ends of requests until the returned function is called. */
export function onRequestEnd(listener: EndListener): () => void {
  endListeners.add(listener);
  return () => {
    endListeners.delete(listener);
  };
}

/** Notes that from now on every request of a tab is seen. */
export function noteWatched(tabId: number): void {
  requestLogOf(tabId).watchedSince ??= Date.now();
  saveSoon(tabId);
}

/** Notes that requests of a tab are no longer seen. */
export function noteUnwatched(tabId: number): void {
  const log = logs.get(tabId);
  if (log === undefined) return;
  log.watchedSince = undefined;
  for (const entry of log.entries) {
    if (entry.finished === undefined) entry.lost = true;
  }
  saveSoon(tabId);
}

/** Reads what an earlier worker left. */
export async function restoreRequests(): Promise<void> {
  const [number = 0] = await Promise.all([keptCounter.load(), tabsRestored()]);
  counter = number;
  reserve();
}

/** Keeps everything that is not kept yet: a number that was told must not be lost. */
export async function keepRequests(): Promise<void> {
  // A store that is full loses them with the worker, but not the answer.
  await save().catch(() => undefined);
}

function reserve(): void {
  reservedUpTo = counter + RESERVED_NUMBERS;
  ignore(keptCounter.save(reservedUpTo));
}

function saveSoon(tabId: number): void {
  unsaved.set(tabId, true);
  if (!isSaving) setTimeout(saveLate, KEEP_AFTER_MS);
  isSaving = true;
}

function saveLate(): void {
  isSaving = false;
  ignore(save());
}

async function save(): Promise<void> {
  const changed = unsaved.tabs();
  for (const tabId of changed) unsaved.delete(tabId);
  await Promise.all(changed.map((tabId) => logs.set(tabId, requestLogOf(tabId))));
}

function small({ entries, forgotten, watchedSince }: RequestLog): RequestLog {
  const newest = entries.slice(-KEPT_REQUESTS);
  return {
    entries: newest.map(({ details, ...entry }) => ({
      ...entry,
      url: entry.url.slice(0, LONGEST_KEPT_URL),
      documentUrl: entry.documentUrl.slice(0, LONGEST_KEPT_URL),
    })),
    forgotten: forgotten + entries.length - newest.length,
    ...(watchedSince === undefined ? {} : { watchedSince }),
  };
}

function isLog(value: unknown): value is RequestLog {
  return (
    isRecord(value) &&
    Array.isArray(value.entries) &&
    value.entries.every(isRequestEntry) &&
    typeof value.forgotten === 'number'
  );
}
