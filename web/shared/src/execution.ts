/**
 * One call while it runs: its deadline, its signal, and its one end.
 *
 * A call that is stopped has its end settled at that moment, whatever its handler still does.
 * The handler gets a little time to really stop, because the answer frees the tab for the next
 * call. It runs nothing and sends nothing.
 */

import type { Clock } from './clock';
import type { CallError } from './generated/protocol';
import type { Call } from './messages';
import type { CallEnd } from './result-store';

const STOP_WITHIN_MS = 500;

/** One call while it runs. */
export class Execution {
  readonly callId: string;
  /** Settles when a handler that was told to stop has had its time. */
  readonly givenUp: Promise<CallEnd>;
  /** The end it will have, once it was told to stop. */
  stopped: CallEnd | undefined;
  /** How it ended, once it has. */
  end: CallEnd | undefined;
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  #cancelTimer: () => void;
  #giveUp: (end: CallEnd) => void = () => {};

  constructor(call: Call, clock: Clock) {
    this.callId = call.callId;
    this.#clock = clock;
    this.givenUp = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
    const late = `not done within ${call.deadlineMs} ms`;
    this.#cancelTimer = clock.after(call.deadlineMs, () => this.stop('deadline_exceeded', late));
  }

  /** What the handler watches. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether its end is settled, told or not. */
  get isOver(): boolean {
    return this.end !== undefined || this.stopped !== undefined;
  }

  /** Tells the handler to stop, and settles what the end will be. */
  stop(code: string, message: string): void {
    if (this.isOver) return;
    const end = failure(code, message);
    this.stopped = end;
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.after(STOP_WITHIN_MS, () => this.#giveUp(end));
    this.#controller.abort(new Error(message));
  }

  /** Notes the end. */
  finish(end: CallEnd): void {
    this.end = end;
    this.#cancelTimer();
  }
}

/** Makes a bad end. */
export function failure(code: string, message: string): { error: CallError } {
  return { error: { code, message } };
}
