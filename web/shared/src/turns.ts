/**
 * Keeps steps in order when some of them take time.
 *
 * As long as none does, each runs at once, as if this were not here. Steps that wait behind a
 * slow one are not lost when it fails: its error is thrown where errors of listeners are seen.
 */

export class Turns {
  readonly #waiting: (() => void | Promise<void>)[] = [];
  #isBusy = false;

  /** Whether a slow step is under way. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Runs a step: now, or when those before it are done. */
  take(step: () => void | Promise<void>): void {
    this.#waiting.push(step);
    this.#run();
  }

  #run(): void {
    while (!this.#isBusy) {
      const step = this.#waiting.shift();
      if (step === undefined) return;
      const slow = step();
      if (slow !== undefined) void this.#await(slow);
    }
  }

  async #await(slow: Promise<void>): Promise<void> {
    this.#isBusy = true;
    try {
      await slow;
    } finally {
      this.#isBusy = false;
      this.#run();
    }
  }
}
