/**
 * The calls that run now, so that the user can end them: all at once, or those in one tab.
 *
 * A call that is ended answers at once, whether or not its work has noticed yet.
 */

import type { CommandError } from '../command';

interface Running {
  readonly tabId: number | undefined;
  end(reason: CommandError): void;
}

export class RunningCalls {
  readonly #running = new Set<Running>();

  /** Does the work until it is done or ended; its signal is aborted in either case of an end. */
  async run<T>(
    tabId: number | undefined,
    outer: AbortSignal,
    work: (signal: AbortSignal) => T | Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    let running: Running | undefined;
    const ended = new Promise<never>((_resolve, reject) => {
      const end = (reason: CommandError) => {
        // In this order: the call ends with this reason, not with what the abort makes of it.
        reject(reason);
        controller.abort(reason);
      };
      running = { tabId, end };
      this.#running.add(running);
    });
    try {
      return await Promise.race([work(AbortSignal.any([outer, controller.signal])), ended]);
    } finally {
      if (running !== undefined) this.#running.delete(running);
    }
  }

  /** Ends all calls. */
  endAll(reason: CommandError): void {
    for (const running of [...this.#running]) running.end(reason);
  }

  /** Ends the calls in one tab. */
  endIn(tabId: number, reason: CommandError): void {
    for (const running of [...this.#running]) if (running.tabId === tabId) running.end(reason);
  }
}
