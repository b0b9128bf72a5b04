/**
 * Time as the client sees it: a monotonic reading and one-shot timers.
 *
 * Everything that waits is given a `Clock`, so that tests can turn time by hand. Wall-clock
 * time is deliberately not here: it jumps when someone sets it.
 */

export interface Clock {
  /** Returns milliseconds since some fixed moment; never goes back. */
  now(): number;
  /** Runs something once, later; returns the function that prevents it. */
  after(delayMs: number, run: () => void): () => void;
}

// What `setTimeout` can wait at most; a longer wait would fire at once.
const LONGEST_MS = 2 ** 31 - 1;

/** The clock of the platform. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, LONGEST_MS));
    return () => clearTimeout(timer);
  },
};
