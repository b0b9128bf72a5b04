/**
 * The app's state on its way to the hub: pushed when it changes, told when asked.
 *
 * Pushes are coalesced to 20 per second before they are numbered; the first is the whole
 * state, later ones are patches where those are smaller. Versions grow by one within this
 * page's life. It copies what it sends, so the app may change its objects as it likes.
 */

import type { Clock } from './clock';
import type { RequestState } from './generated/protocol';
import { LARGEST_NUMBERED, stringify, toJson } from './json';
import { diff } from './json-patch';
import { encode, encodeWith, type Raw, type Sent, type Unnumbered } from './messages';
import { randomId } from './random-id';

/** Looks at the app and returns its state; `forceRefresh` forbids an answer from a cache. */
export type StateHandler = (forceRefresh: boolean) => unknown;

export interface StateParts {
  readonly handler: StateHandler | undefined;
  readonly clock: Clock;
  /** Numbers a message and sends it when it can. */
  append(message: Unnumbered, raw: Raw): void;
  /** Writes a frame, or drops it when there is no connection. */
  send(frame: string): void;
  onError(error: unknown): void;
}

const APART_MS = 50;

export class StateFeed {
  /** Names this page's life. */
  readonly stateEpoch = randomId();
  readonly #parts: StateParts;
  #version = 0;
  /** What patches are against; none when the next update must be whole. */
  #base: { readonly json: string; readonly value: unknown } | undefined;
  /** The newest state that was pushed, in a box because a state may be anything. */
  #newest: { readonly state: unknown } | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(parts: StateParts) {
    this.#parts = parts;
  }

  /** Takes a new state; it goes out now, or with what follows within 50 ms. */
  push(state: unknown): void {
    this.#newest = { state };
    if (this.#cancel !== undefined) return;
    const waitMs = this.#sentAt + APART_MS - this.#parts.clock.now();
    if (waitMs <= 0) this.#flush();
    else this.#cancel = this.#parts.clock.after(waitMs, () => this.#flush());
  }

  /** Sends what waits for its 50 ms now. */
  flush(): void {
    if (this.#cancel === undefined) return;
    this.#cancel();
    this.#flush();
  }

  /** Makes the next update a whole one: the hub may have missed what patches build on. */
  restart(): void {
    this.#base = undefined;
  }

  /** Answers the hub's question. */
  async answer({ requestId, forceRefresh }: RequestState): Promise<void> {
    try {
      const json = toJson(await this.#look(forceRefresh), LARGEST_NUMBERED);
      const version = this.#versionOf(json);
      const head = {
        type: 'stateResponse',
        requestId,
        stateEpoch: this.stateEpoch,
        version,
      } as const;
      const raw = { field: 'state', json } as const;
      this.#parts.send(encodeWith<Sent<'stateResponse'>, 'state'>(head, raw));
    } catch (error) {
      const why = error instanceof Error ? error.message : 'the state could not be told';
      this.#parts.send(encode({ type: 'stateError', requestId, error: why }));
    }
  }

  close(): void {
    this.#cancel?.();
  }

  #look(forceRefresh: boolean): unknown {
    if (this.#parts.handler !== undefined) return this.#parts.handler(forceRefresh);
    if (this.#newest === undefined) throw new Error('no state has been told yet');
    return this.#newest.state;
  }

  /** Gives a state that was told on request its version; a new one breaks the row of patches. */
  #versionOf(json: string): number {
    if (this.#base?.json === json) return this.#version;
    this.#base = undefined;
    return ++this.#version;
  }

  #flush(): void {
    this.#cancel = undefined;
    this.#sentAt = this.#parts.clock.now();
    try {
      this.#update(toJson(this.#newest?.state, LARGEST_NUMBERED));
    } catch (error) {
      this.#parts.onError(error);
    }
  }

  #update(json: string): void {
    if (this.#base?.json === json) return;
    const value: unknown = JSON.parse(json);
    const version = this.#version + 1;
    const head = { type: 'stateUpdate', stateEpoch: this.stateEpoch, version } as const;
    this.#parts.append(head, this.#smallest(json, value));
    this.#version = version;
    this.#base = { json, value };
  }

  #smallest(json: string, value: unknown): Raw {
    const whole = { field: 'state', json };
    if (this.#base === undefined) return whole;
    const patch = stringify(diff(this.#base.value, value));
    return patch.length < json.length ? { field: 'patch', json: patch } : whole;
  }
}
