/**
 * Life signs: asks after silence, and gives up when there is no answer.
 *
 * Any message counts as life. A timer that fires much too late means that this machine slept
 * or this tab was throttled: then the peer could not answer, and gets one more chance.
 */

import type { Clock } from './clock';

export interface HeartbeatActions {
  /** Asks the peer whether it is there. */
  ping(): void;
  /** Tells that the peer is not there any more. */
  dead(): void;
}

const ANSWER_WITHIN_MS = 10_000;
const MUCH_TOO_LATE_MS = 5_000;
// A hub that asks for less would be pinged without pause.
const SHORTEST_MS = 100;

export class Heartbeat {
  readonly #clock: Clock;
  readonly #actions: HeartbeatActions;
  readonly #askAfterMs: number;
  #heardAt: number;
  /** How often it was asked since it was heard last. */
  #asked = 0;
  #secondChance = true;
  #cancel: () => void = () => {};

  constructor(clock: Clock, askAfterMs: number, actions: HeartbeatActions) {
    this.#clock = clock;
    this.#actions = actions;
    this.#askAfterMs = Math.max(askAfterMs, SHORTEST_MS);
    this.#heardAt = clock.now();
    this.#wait(this.#askAfterMs);
  }

  /** Notes a message; cheap, because the timer is not touched. */
  heard(): void {
    this.#heardAt = this.#clock.now();
    this.#asked = 0;
    this.#secondChance = true;
  }

  stop(): void {
    this.#cancel();
  }

  #wait(delayMs: number): void {
    const due = this.#clock.now() + delayMs;
    this.#cancel = this.#clock.after(delayMs, () => this.#check(due));
  }

  #check(due: number): void {
    const silentFor = this.#clock.now() - this.#heardAt;
    if (this.#asked === 0 && silentFor < this.#askAfterMs) {
      this.#wait(this.#askAfterMs - silentFor);
    } else if (this.#asked === 0 || this.#forgives(due)) {
      this.#asked++;
      this.#wait(ANSWER_WITHIN_MS);
      this.#actions.ping();
    } else {
      this.#actions.dead();
    }
  }

  /** Tells whether the silence may be ours, at most once per silence. */
  #forgives(due: number): boolean {
    const late = this.#clock.now() - due > MUCH_TOO_LATE_MS;
    if (!late || !this.#secondChance) return false;
    this.#secondChance = false;
    return true;
  }
}
