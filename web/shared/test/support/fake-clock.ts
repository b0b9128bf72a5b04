/**
 * A clock that stands still until a test turns it.
 *
 * Timers run in the order of their times. Between two of them, everything that was promised
 * gets its turn, so that asynchronous code sees time as it would in life.
 */

import assert from 'node:assert/strict';
import type { Clock } from '../../src/clock';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export class FakeClock implements Clock {
  #now = 1000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Lets time pass, running what becomes due. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settled();
    for (let next = this.#next(); next && next.at <= until; next = this.#next()) {
      this.#now = Math.max(this.#now, next.at);
      this.#fire(next);
      await settled();
    }
    this.#now = until;
  }

  /** Lets time pass without running anything, and only then what is due: the machine slept. */
  async sleep(ms: number): Promise<void> {
    this.#now += ms;
    await this.advance(0);
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.at < next.at) next = timer;
    }
    return next;
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    timer.run();
  }
}

/** Waits until all that is promised has happened. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits for what takes more than that, such as inflating: it is done by other threads. */
export async function until(condition: () => boolean): Promise<void> {
  const limit = performance.now() + 30_000;
  while (!condition()) {
    assert.ok(performance.now() < limit, 'it did not come within 30 s');
    await settled();
  }
}
