/**
 * What a peer remembers of itself from one life to the next.
 *
 * The owner says where: an extension in `chrome.storage`, a page in `sessionStorage`. Kept are
 * the name, the newest resume token and how far the hub's log was seen. The peer's own log is
 * not: its messages die with it, so each life numbers in a log with a new name.
 */

import type { Position } from './generated/protocol';
import { isRecord } from './values';

export interface Snapshot {
  /** The peer's own name for itself. */
  readonly instanceId: string;
  /** Proves to the hub that it is the same peer; valid once. */
  readonly resumeToken?: string;
  /** How far the hub's log was delivered. */
  readonly position?: Position;
}

export interface Memory {
  /** Returns what was saved last, or nothing. */
  load(): Promise<Snapshot | undefined>;
  /** Keeps this and forgets what was before. */
  save(snapshot: Snapshot): void | Promise<void>;
}

/** Reads what was saved; what is not a snapshot, or cannot be read, counts as nothing. */
export async function recall(
  memory: Memory,
  onError: (error: unknown) => void,
): Promise<Snapshot | undefined> {
  try {
    const loaded: unknown = await memory.load();
    return isSnapshot(loaded) ? loaded : undefined;
  } catch (error) {
    onError(error);
    return undefined;
  }
}

/** Saves one snapshot at a time; of those that come meanwhile only the newest. */
export class Keeper {
  readonly #memory: Memory;
  readonly #onError: (error: unknown) => void;
  #next: Snapshot | undefined;
  #saving = false;

  constructor(memory: Memory, onError: (error: unknown) => void) {
    this.#memory = memory;
    this.#onError = onError;
  }

  /** Keeps a snapshot, now or when the one before is kept. */
  async save(snapshot: Snapshot): Promise<void> {
    this.#next = snapshot;
    if (this.#saving) return;
    this.#saving = true;
    while (this.#next !== undefined) {
      const next = this.#next;
      this.#next = undefined;
      await this.#write(next);
    }
    this.#saving = false;
  }

  async #write(snapshot: Snapshot): Promise<void> {
    try {
      await this.#memory.save(snapshot);
    } catch (error) {
      this.#onError(error);
    }
  }
}

function isSnapshot(value: unknown): value is Snapshot {
  return (
    isRecord(value) &&
    typeof value.instanceId === 'string' &&
    (value.resumeToken === undefined || typeof value.resumeToken === 'string') &&
    (value.position === undefined || isPosition(value.position))
  );
}

function isPosition(value: unknown): value is Position {
  return isRecord(value) && typeof value.epoch === 'string' && Number.isSafeInteger(value.sequence);
}
