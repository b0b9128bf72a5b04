/**
 * Where the ends of calls are kept, so that a repeated call is answered and not run again.
 *
 * The interface may be asynchronous: an extension keeps ends in `chrome.storage.session`,
 * where the death of its worker does not lose them. The one here keeps them in memory.
 */

import type { CallError } from './generated/protocol';

/** How a call ended; `result` is JSON text. */
export type CallEnd = { readonly result: string } | { readonly error: CallError };

export interface ResultStore {
  /** Returns how a call ended, or nothing if that is not known. */
  get(callId: string): CallEnd | undefined | Promise<CallEnd | undefined>;
  /** Keeps how a call ended; the last 256 must be kept. */
  set(callId: string, end: CallEnd): void | Promise<void>;
}

const KEPT = 256;

/** Returns a store that lives as long as this page or worker. */
export function memoryResults(kept: number = KEPT): ResultStore {
  // A map iterates in the order of insertion, so its first key is the oldest.
  const ends = new Map<string, CallEnd>();
  return {
    get: (callId) => ends.get(callId),
    set(callId, end) {
      ends.delete(callId);
      ends.set(callId, end);
      const oldest = ends.keys().next();
      if (ends.size > kept && !oldest.done) ends.delete(oldest.value);
    },
  };
}
