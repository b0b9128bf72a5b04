/**
 * References: numbers that mean one node each, as long as the document lives.
 *
 * A number is never given to another node. A node that left the document is dead while it is out of
 * it. Nothing here keeps a node alive.
 */

import { isConnected } from './dom';

const SWEEP_FROM = 10_000;

export class Refs {
  readonly #numbers = new WeakMap<Element, number>();
  readonly #elements = new Map<number, WeakRef<Element>>();
  #next = 1;
  #sweepAt = SWEEP_FROM;

  /** Returns the element's number; gives it one when it has none. */
  of(element: Element): number {
    const known = this.#numbers.get(element);
    if (known !== undefined) return known;
    const number = this.#next++;
    this.#numbers.set(element, number);
    this.#elements.set(number, new WeakRef(element));
    if (this.#elements.size > this.#sweepAt) this.#sweep();
    return number;
  }

  /** Returns the element, or null when it never was, is gone or is out of the document. */
  get(number: number): Element | null {
    const element = this.#elements.get(number)?.deref();
    return element && isConnected(element) ? element : null;
  }

  // Collected nodes leave an empty WeakRef behind; a page that renders for hours makes many.
  #sweep(): void {
    for (const [number, reference] of this.#elements) {
      if (!reference.deref()) this.#elements.delete(number);
    }
    this.#sweepAt = Math.max(SWEEP_FROM, this.#elements.size * 2);
  }
}
