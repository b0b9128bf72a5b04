/**
 * When to ack: soon after something came, at once when much did.
 *
 * Acks are cumulative, so one for many is enough. It decides the moment only; what is acked
 * the owner knows.
 */

import type { Clock } from './clock';

// The protocol allows one second; timers fire late, in background tabs by up to a second.
const DELAY_MS = 500;
const AT_ONCE = 50;

export class Acks {
  readonly #clock: Clock;
  readonly #send: () => void;
  #waiting = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, send: () => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Counts one message that must be acked. */
  note(): void {
    this.#waiting++;
    if (this.#waiting >= AT_ONCE) this.#fire();
    else this.#cancel ??= this.#clock.after(DELAY_MS, () => this.#fire());
  }

  /** Forgets what is due: after a reconnect, `hello` says it. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#waiting = 0;
  }

  #fire(): void {
    this.stop();
    this.#send();
  }
}
