/**
 * The one place that holds the state: takes changes, keeps the history, tells the listeners.
 *
 * Data flows one way: a change comes in, the new state goes out to scene, hub and controls alike.
 * Who made the change is told too, because a client's change is shown as a movement and a hand's
 * is not. It draws nothing and sends nothing.
 */

import { begin, type History, record, redo, undo } from './history';
import { apply, type Change, type ViewerState } from './state';

/** Whose change it was: a person's at the page, or a client's. */
export type Origin = 'hand' | 'client';

export type Listener = (state: ViewerState, origin: Origin) => void;

export class Store {
  #history: History<ViewerState>;
  readonly #listeners = new Set<Listener>();

  constructor(state: ViewerState) {
    this.#history = begin(state);
  }

  /** The present state; never changed in place. */
  get state(): ViewerState {
    return this.#history.present;
  }

  /** How many steps there are in each direction. */
  get steps(): { readonly undo: number; readonly redo: number } {
    return { undo: this.#history.past.length, redo: this.#history.future.length };
  }

  /** Every model that the present, an undo or a redo may show. */
  get sources(): ReadonlySet<string> {
    const { past, present, future } = this.#history;
    return new Set([...past, present, ...future].map((state) => state.model.source));
  }

  /** Makes a change; those of one `gesture` are undone together. */
  change(change: Change, origin: Origin, gesture?: string): void {
    this.#become(record(this.#history, apply(this.state, change), gesture), origin);
  }

  /** Goes back, and returns how many steps it really was. */
  undo(steps: number, origin: Origin): number {
    const before = this.#history.past.length;
    this.#become(undo(this.#history, steps), origin);
    return before - this.#history.past.length;
  }

  /** Goes forward again, and returns how many steps it was: 1 or 0. */
  redo(origin: Origin): number {
    const before = this.#history.future.length;
    this.#become(redo(this.#history), origin);
    return before - this.#history.future.length;
  }

  /** Calls the listener after every change; returns what ends that. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #become(history: History<ViewerState>, origin: Origin): void {
    const isSame = history.present === this.#history.present;
    this.#history = history;
    if (isSame) return;
    for (const listener of this.#listeners) listener(history.present, origin);
  }
}
