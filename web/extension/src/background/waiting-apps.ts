/**
 * The web apps on this machine that wait for the user to allow them.
 *
 * A hub names all of them with the event `appsWaiting`. Kept for as long as the browser runs, so
 * that a new worker can show them before the hub is there again. Allowing them is the hub's matter.
 */

import { isListOf, isRecord, isText } from '../check';
import { Kept } from '../storage';

/** The hub names no more. */
const MOST_WAITING = 20;
/** Longer ones cannot be read in a popup. */
const LONGEST_ORIGIN = 200;

const kept = new Kept<readonly string[]>('session', 'waitingApps', isOrigins);

export class WaitingApps {
  readonly #changed: () => void;
  #origins: readonly string[] = [];

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  async load(): Promise<void> {
    this.#origins = (await kept.load()) ?? this.#origins;
  }

  get origins(): readonly string[] {
    return this.#origins;
  }

  /** Takes the hub's word for who waits; what is no origin is left out. */
  tell(data: unknown): void {
    const origins: unknown = isRecord(data) ? data.origins : undefined;
    // One by one: whoever sends the hub an odd origin must not hide the others.
    if (Array.isArray(origins)) this.#set(origins.filter(isOrigin).slice(0, MOST_WAITING));
  }

  /** Removes an app that has its answer; returns whether it was waiting. */
  remove(origin: string): boolean {
    if (!this.#origins.includes(origin)) return false;
    this.#set(this.#origins.filter((each) => each !== origin));
    return true;
  }

  #set(origins: readonly string[]): void {
    this.#origins = origins;
    kept.save(origins).catch((error) => console.debug('tabwire: not kept:', error));
    this.#changed();
  }
}

function isOrigins(value: unknown): value is readonly string[] {
  return isListOf(value, isOrigin);
}

function isOrigin(value: unknown): value is string {
  return (
    isText(value) &&
    value.length <= LONGEST_ORIGIN &&
    URL.canParse(value) &&
    new URL(value).origin === value
  );
}
