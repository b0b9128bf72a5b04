/**
 * Whether the page is still moving: counts changes, knows the last one, waits until it is quiet.
 *
 * One observer per document, started by the first question, for the document and every shadow root
 * met so far. What changes mean to somebody who looks at the page is `effects.ts`'s matter, which
 * gets to see them while an act is under way.
 */

import type { Changes } from './api';
import { delay, frame } from './clock';
import type { Effects } from './effects';
import { knownShadowRoots } from './shadow';

const WATCHED: MutationObserverInit = {
  subtree: true,
  childList: true,
  attributes: true,
  characterData: true,
  attributeOldValue: true,
  characterDataOldValue: true,
};
// So long after the page was quiet after an act nobody asks any more what came of it.
const FORGOTTEN_AFTER_MS = 10_000;

/** How long is waited, and whether what can be seen of the changes is wanted. */
interface Patience {
  readonly quietMs: number;
  readonly capMs: number;
  readonly tells?: boolean;
}

export class ChangeCounter {
  readonly #observer = new MutationObserver((records) => this.#count(records));
  readonly #listeners = new Set<() => void>();
  readonly #watched = new WeakSet<Node>();
  readonly #onScroll = () => {
    this.#lastMove = performance.now();
  };
  readonly #effects: Effects;
  #isOn = false;
  /** When what is noted can be forgotten; nothing is noted before the first act. */
  #forgetsAt = Number.POSITIVE_INFINITY;
  #added = 0;
  #removed = 0;
  #attributes = 0;
  #text = 0;
  #lastChange = Number.NEGATIVE_INFINITY;
  #lastMove = Number.NEGATIVE_INFINITY;

  constructor(effects: Effects) {
    this.#effects = effects;
  }

  /** Starts counting from nothing. */
  arm(): void {
    this.#start();
    this.#observer.takeRecords();
    this.#effects.arm();
    this.#forgetsAt = Number.POSITIVE_INFINITY;
    this.#added = 0;
    this.#removed = 0;
    this.#attributes = 0;
    this.#text = 0;
  }

  async untilQuiet({ quietMs, capMs, tells = false }: Patience): Promise<Changes> {
    this.#start();
    const end = performance.now() + capMs;
    let isRestless = false;
    await frame();
    for (;;) {
      this.#count(this.#observer.takeRecords());
      const now = performance.now();
      const quietFor = now - this.#lastChange;
      if (this.#total() === 0 || quietFor >= quietMs) break;
      isRestless = now >= end;
      if (isRestless) break;
      await delay(Math.min(quietMs - quietFor, end - now));
    }
    const changes = this.#changes(isRestless);
    if (!tells) return changes;
    this.#forgetsAt = performance.now() + FORGOTTEN_AFTER_MS;
    return { ...changes, facts: this.#effects.tell() };
  }

  /** Whether boxes can be trusted: nothing is animated, changed or scrolled just now. */
  isStill(): boolean {
    if (!this.#isOn) {
      this.#start();
      return false;
    }
    this.#count(this.#observer.takeRecords());
    const since = performance.now() - Math.max(this.#lastChange, this.#lastMove);
    return since > 50 && !hasMotion();
  }

  /** Calls back on every batch of changes until the returned function is called. */
  listen(callback: () => void): () => void {
    this.#start();
    this.#listeners.add(callback);
    return () => this.#listeners.delete(callback);
  }

  stop(): void {
    this.#observer.disconnect();
    removeEventListener('scroll', this.#onScroll, { capture: true });
    this.#listeners.clear();
    this.#effects.forget();
    this.#isOn = false;
  }

  #start(): void {
    if (!this.#isOn) {
      this.#isOn = true;
      addEventListener('scroll', this.#onScroll, { capture: true, passive: true });
      this.#observer.observe(document, WATCHED);
    }
    for (const root of knownShadowRoots()) {
      if (this.#watched.has(root)) continue;
      this.#watched.add(root);
      this.#observer.observe(root, WATCHED);
    }
  }

  #count(records: readonly MutationRecord[]): void {
    if (records.length === 0) return;
    this.#lastChange = performance.now();
    if (this.#lastChange > this.#forgetsAt) this.#effects.forget();
    for (const record of records) {
      this.#effects.note(record);
      if (record.type === 'attributes') this.#attributes++;
      else if (record.type === 'characterData') this.#text++;
      else {
        this.#added += record.addedNodes.length;
        this.#removed += record.removedNodes.length;
      }
    }
    for (const listener of this.#listeners) listener();
  }

  #total(): number {
    return this.#added + this.#removed + this.#attributes + this.#text;
  }

  #changes(isRestless: boolean): Changes {
    return {
      added: this.#added,
      removed: this.#removed,
      attributes: this.#attributes,
      text: this.#text,
      ...(isRestless ? { restless: true } : {}),
    };
  }
}

const animations = Document.prototype.getAnimations;

// An endless spinner would keep a page from ever standing still.
function hasMotion(): boolean {
  for (const animation of animations.call(document)) {
    if (animation.playState !== 'running') continue;
    if (animation.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY) return true;
  }
  return false;
}
