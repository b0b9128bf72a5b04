/**
 * One thing after the other: what is asked for later begins when what came before has ended.
 */

export class WorkQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Does the work in its turn and returns what it returns. */
  take<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
