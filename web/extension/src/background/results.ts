/**
 * The ends of calls, kept where the death of the worker does not lose them.
 *
 * `chrome.storage.session` holds 10 MiB for everything, so ends may take 6. The last 256 are
 * always known; of one that is too large, or too old while others need the room, only that it
 * happened: asked for, it says so and is not run again.
 */

import type { CallEnd, ResultStore } from '@tabwire/shared';
import { isListOf, isRecord, isText } from '../check';
import { Kept } from '../storage';

export interface ResultLimits {
  readonly ends: number;
  readonly bytesPerEnd: number;
  readonly bytes: number;
}

const LIMITS: ResultLimits = {
  ends: 256,
  bytesPerEnd: 256 * 1024,
  bytes: 6 * 1024 * 1024,
};

/** What is written down of each end, oldest first. */
interface Entry {
  readonly callId: string;
  readonly bytes: number;
}

const FORGOTTEN: CallEnd = {
  error: {
    code: 'outcome_unknown',
    message: 'the call has ended, and its result was too large to keep; look at the page again',
  },
};

const index = new Kept<Entry[]>('session', 'ends', isIndex);

export class KeptResults implements ResultStore {
  readonly #limits: ResultLimits;
  readonly #entries: Promise<Entry[]>;

  constructor(limits: ResultLimits = LIMITS) {
    this.#limits = limits;
    this.#entries = index.load().then((found) => found ?? []);
  }

  async get(callId: string): Promise<CallEnd | undefined> {
    await this.#entries;
    const key = keyOf(callId);
    const found: unknown = (await chrome.storage.session.get(key))[key];
    return isEnd(found) ? found : undefined;
  }

  async set(callId: string, end: CallEnd): Promise<void> {
    const entries = await this.#entries;
    const isTooLarge = bytesOf(end) > this.#limits.bytesPerEnd;
    const kept = isTooLarge ? FORGOTTEN : end;
    // Nothing is awaited until all is decided, so that two ends do not decide at once.
    remove(entries, callId);
    entries.push({ callId, bytes: bytesOf(kept) });
    const dropped = entries.splice(0, Math.max(0, entries.length - this.#limits.ends));
    const forgotten = this.#makeRoom(entries);
    const gone = dropped.map((entry) => keyOf(entry.callId));
    const changed = Object.fromEntries(forgotten.map((id) => [keyOf(id), FORGOTTEN]));
    const written = { [index.key]: [...entries], ...changed };
    if (gone.length > 0) await chrome.storage.session.remove(gone);
    await chrome.storage.session.set({ [keyOf(callId)]: kept, ...written });
  }

  /** Gives up the oldest results until the rest fits; returns whose. */
  #makeRoom(entries: Entry[]): string[] {
    const small = bytesOf(FORGOTTEN);
    const forgotten: string[] = [];
    let total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const [place, entry] of entries.entries()) {
      if (total <= this.#limits.bytes) break;
      if (entry.bytes <= small) continue;
      entries[place] = { callId: entry.callId, bytes: small };
      forgotten.push(entry.callId);
      total -= entry.bytes - small;
    }
    return forgotten;
  }
}

function remove(entries: Entry[], callId: string): void {
  const place = entries.findIndex((entry) => entry.callId === callId);
  if (place >= 0) entries.splice(place, 1);
}

function keyOf(callId: string): string {
  return `end:${callId}`;
}

/** Counts two bytes for each character: that is what memory may need, and more than is true. */
function bytesOf(end: CallEnd): number {
  const text = 'error' in end ? end.error.code + end.error.message : end.result;
  return text.length * 2;
}

function isEnd(value: unknown): value is CallEnd {
  if (!isRecord(value)) return false;
  const { result, error } = value;
  return isText(result) || (isRecord(error) && isText(error.code) && isText(error.message));
}

function isIndex(value: unknown): value is Entry[] {
  return isListOf(value, isEntry);
}

function isEntry(value: unknown): value is Entry {
  return isRecord(value) && isText(value.callId) && Number.isSafeInteger(value.bytes);
}
