/**
 * The requests of each tab, while the debugger is attached to it.
 *
 * In come starts, changes and ends from `request-reader.ts`; out go lists and news of ends. One
 * counter gives requests their numbers and changes their place, and no number is given twice: it
 * is kept ahead in `storage.session`, together with the newest requests in short, at the latest when
 * they are told and usually within half a second. What a worker knew beyond that dies with it.
 */

import { isRecord } from '../../command';
import { ignore } from '../common/time-limits';
import { type Entry, isEntry } from './request-entry';

/** Requests of a tab that are remembered; and those that outlive the worker. */
export const REMEMBERED = 500;
const KEPT = 100;
const KEEP_AFTER_MS = 500;
// So many numbers are set aside at once.
const RESERVED = 1_000;
const COUNTER = 'driver.requests.counter';
const LONGEST_KEPT_URL = 500;

export interface RequestLog {
  /** Oldest first. */
  entries: Entry[];
  /** How many were forgotten because there were too many. */
  forgotten: number;
  /** Since when every request was seen, in milliseconds since 1970; nothing when none is. */
  watchedSince?: number | undefined;
}

type EndListener = (tabId: number, entry: Entry) => void;

const logs = new Map<number, RequestLog>();
const endListeners = new Set<EndListener>();
const unsaved = new Set<number>();
let isSaving = false;
let counter = 0;
let reservedUpTo = 0;

/** Returns a tab's log. */
export function requestLogOf(tabId: number): RequestLog {
  const known = logs.get(tabId);
  if (known !== undefined) return known;
  const log: RequestLog = { entries: [], forgotten: 0 };
  logs.set(tabId, log);
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
export function addRequest(tabId: number, entry: Entry): void {
  const log = requestLogOf(tabId);
  log.entries.push(entry);
  const tooMany = log.entries.length - REMEMBERED;
  if (tooMany > 0) {
    log.entries.splice(0, tooMany);
    log.forgotten += tooMany;
  }
  saveSoon(tabId);
}

/** Notes that a request has ended, and tells who waits for it. */
export function endRequest(tabId: number, entry: Entry): void {
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

/** Notes which of the tabs that an earlier worker watched are watched no more. */
export function forgetUnwatched(isWatched: (tabId: number) => boolean): void {
  for (const [tabId, { watchedSince }] of logs) {
    if (watchedSince !== undefined && !isWatched(tabId)) noteUnwatched(tabId);
  }
}

/** Forgets a tab that is closed. */
export function forgetRequests(tabId: number): void {
  logs.delete(tabId);
  unsaved.delete(tabId);
  ignore(chrome.storage.session.remove(keyOf(tabId)));
}

/** Reads what an earlier worker left. */
export async function restoreRequests(): Promise<void> {
  const kept = await chrome.storage.session.get(null);
  const number: unknown = kept[COUNTER];
  counter = typeof number === 'number' ? number : 0;
  reserve();
  for (const [key, value] of Object.entries(kept)) {
    const tabId = /^driver\.requests\.(\d+)$/.exec(key)?.[1];
    if (tabId !== undefined && isLog(value)) logs.set(Number(tabId), value);
  }
}

/** Keeps everything that is not kept yet: a number that was told must not be lost. */
export async function keepRequests(): Promise<void> {
  // A store that is full loses them with the worker, but not the answer.
  if (unsaved.size > 0) await save().catch(() => undefined);
}

function reserve(): void {
  reservedUpTo = counter + RESERVED;
  ignore(chrome.storage.session.set({ [COUNTER]: reservedUpTo }));
}

function saveSoon(tabId: number): void {
  unsaved.add(tabId);
  if (!isSaving) setTimeout(saveLate, KEEP_AFTER_MS);
  isSaving = true;
}

function saveLate(): void {
  isSaving = false;
  ignore(save());
}

async function save(): Promise<void> {
  const values: Record<string, RequestLog> = {};
  for (const tabId of unsaved) values[keyOf(tabId)] = small(requestLogOf(tabId));
  unsaved.clear();
  await chrome.storage.session.set(values);
}

function small({ entries, forgotten, watchedSince }: RequestLog): RequestLog {
  const newest = entries.slice(-KEPT);
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
    value.entries.every(isEntry) &&
    typeof value.forgotten === 'number'
  );
}

function keyOf(tabId: number): string {
  return `driver.requests.${tabId}`;
}
