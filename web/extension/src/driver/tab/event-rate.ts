/**
 * So many events of a tab in a second and no more: a page that does something in a loop must not
 * push everything else out of the hub's memory.
 */

import { TabPart } from './tab-state';

const MOST_PER_SECOND = 50;

export class EventRate {
  readonly #seconds = new TabPart<{ told: number; dropped: number }>(['tab']);
  readonly #onDropped: (tabId: number, count: number) => void;

  /** `onDropped` is told after a second how many events of it were too many. */
  constructor(onDropped: (tabId: number, count: number) => void = () => {}) {
    this.#onDropped = onDropped;
  }

  /** Returns whether one more may be told now, and counts it. */
  mayTell(tabId: number): boolean {
    const second = this.#seconds.ensure(tabId, () => this.#begin(tabId));
    second.told++;
    if (second.told > MOST_PER_SECOND) second.dropped++;
    return second.told <= MOST_PER_SECOND;
  }

  #begin(tabId: number) {
    const second = { told: 0, dropped: 0 };
    setTimeout(() => {
      this.#seconds.delete(tabId);
      if (second.dropped > 0) this.#onDropped(tabId, second.dropped);
    }, 1_000);
    return second;
  }
}
