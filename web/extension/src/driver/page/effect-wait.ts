/**
 * Waits until an act has had its effect, and says which.
 *
 * By signals, not by time: the input's acknowledgement, then a frame in the page and, if anything
 * changed, a moment of quiet, then the requests that began. A dialog, a new tab or a download ends
 * it at once; a navigation is followed into its new document. Capped, since some pages never rest.
 */

import type { Changes } from '../../content/api';
import { answerable, type Limits } from '../common/time-limits';
import type { Watch } from '../tab/signals';
import { DocumentGone, unresponsive } from './content-calls';

export const CAP_MS = 5_000;
// An answer that is a download looks like a failed navigation for a moment.
const DOWNLOAD_WITHIN_MS = 500;
// What has begun is told by one source, its number by another: together, but for a busy machine.
const NUMBER_WITHIN_MS = 3_000;
// A page that moves all the time (a clock, an animation) is not waited for to the cap.
const RESTLESS_AFTER_MS = 1_000;

/** What a page says when it lets us through. */
export interface Passed {
  readonly changes: Changes<string> | undefined;
  /** It was in motion all the time; one that is only slow was not. */
  readonly isRestless: boolean;
}

export interface EffectWaitParts {
  readonly watch: Watch;
  readonly limits: Limits;
  /** Settles when the input was taken; may never. */
  readonly acted: Promise<unknown>;
  /** It is made of steps: all of them are waited for, and the cap is for what comes then. */
  readonly inSteps?: boolean;
  /** One frame in the page, and quiet if it changed. */
  barrier(capMs: number): Promise<Passed>;
  readonly capMs?: number;
}

export interface ActOutcome {
  readonly changes: Changes<string> | undefined;
  /** Still busy when the cap was reached, or in motion all the time. */
  readonly busy: boolean;
}

/** Waits for the effect of an act; what it was is in the watch. */
export async function awaitEffect(parts: EffectWaitParts): Promise<ActOutcome> {
  return new EffectWait(parts).run();
}

class EffectWait {
  readonly #parts: EffectWaitParts;
  #endsAt: number;
  #changes: Changes<string> | undefined;
  #isRestless = false;

  constructor(parts: EffectWaitParts) {
    this.#parts = parts;
    this.#endsAt = performance.now() + (parts.capMs ?? CAP_MS);
  }

  async run(): Promise<ActOutcome> {
    const { watch } = this.#parts;
    if (this.#parts.inSteps === true) await this.#untilAllSteps();
    else await this.#untilActed(this.#left());
    while (this.#left() > 0) {
      if (watch.closed || watch.detached !== undefined) return this.#end(false);
      if (watch.dialog !== undefined || watch.download !== undefined) return this.#end(false);
      if (watch.newTab !== undefined) return this.#end(false);
      if (await this.#step()) return this.#end(this.#isRestless);
    }
    return this.#end(true);
  }

  /** Does the next wait; returns whether all is quiet. */
  async #step(): Promise<boolean> {
    const { watch } = this.#parts;
    if (watch.windowOpened) {
      await this.#wait(() => watch.newTab !== undefined, NUMBER_WITHIN_MS);
      watch.windowOpened = false;
      return false;
    }
    if (watch.downloading) {
      await this.#wait(() => watch.download !== undefined, NUMBER_WITHIN_MS);
      watch.downloading = false;
      return false;
    }
    if (watch.navigating) {
      await this.#wait(() => !watch.navigating);
      if (watch.failed !== undefined) await this.#wait(() => watch.downloading, DOWNLOAD_WITHIN_MS);
      return false;
    }
    if (watch.committed !== undefined && !watch.domReady) {
      await this.#wait(() => watch.domReady || watch.navigating);
      return false;
    }
    return this.#quiet();
  }

  async #quiet(): Promise<boolean> {
    const { watch } = this.#parts;
    if (!(await this.#passBarrier())) return false;
    if (this.#isInterrupted()) return false;
    if (watch.pending === 0) return true;
    await this.#wait(() => watch.pending === 0);
    return false;
  }

  /** Returns whether the page let us through, undisturbed. */
  async #passBarrier(): Promise<boolean> {
    const { barrier, watch, limits } = this.#parts;
    let isThrough = false;
    const passing = barrier(Math.min(this.#left(), RESTLESS_AFTER_MS)).then(
      ({ changes, isRestless }) => {
        this.#changes = changes;
        this.#isRestless = isRestless;
        isThrough = true;
      },
      (error) => {
        // A new document is met in the next round; anything else ends the wait.
        if (!(error instanceof DocumentGone)) isThrough = true;
      },
    );
    let isOver = false;
    const disturbed = watch.until(() => isOver || this.#isInterrupted(), limits, this.#left());
    try {
      await Promise.race([passing, disturbed]);
    } finally {
      isOver = true;
      watch.recheck();
    }
    return isThrough;
  }

  /** Waits for the last step as long as the call lasts: half of a drag is none. */
  async #untilAllSteps(): Promise<void> {
    const { limits, capMs = CAP_MS } = this.#parts;
    if (!(await this.#untilActed(answerable(limits, Infinity)))) throw unresponsive();
    this.#endsAt = performance.now() + answerable(limits, capMs);
  }

  /** Returns whether the input was taken, or something came that keeps it from being taken. */
  async #untilActed(limitMs: number): Promise<boolean> {
    const { acted, watch, limits } = this.#parts;
    let isOver = false;
    const isStopped = () =>
      isOver || watch.dialog !== undefined || watch.closed || watch.navigating;
    try {
      // Not ended by a detachment: then the input fails, and that must be told.
      const stopped = watch.until(isStopped, limits, limitMs);
      return await Promise.race([acted.then(() => true), stopped]);
    } finally {
      isOver = true;
      watch.recheck();
    }
  }

  #isInterrupted(): boolean {
    const { watch } = this.#parts;
    if (watch.closed || watch.detached !== undefined || watch.dialog !== undefined) return true;
    if (watch.newTab !== undefined || watch.download !== undefined || watch.downloading)
      return true;
    return watch.windowOpened || watch.navigating;
  }

  async #wait(isSo: () => boolean, limitMs = Infinity): Promise<boolean> {
    const { watch, limits } = this.#parts;
    const isEnough = () =>
      isSo() || watch.dialog !== undefined || watch.closed || watch.detached !== undefined;
    return watch.until(isEnough, limits, Math.min(limitMs, this.#left()));
  }

  #left(): number {
    return this.#endsAt - performance.now();
  }

  #end(busy: boolean): ActOutcome {
    return { changes: this.#changes, busy };
  }
}
