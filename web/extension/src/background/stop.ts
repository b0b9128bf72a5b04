/**
 * The user's Stop: ends everything at once and lets nothing begin until Resume.
 *
 * Kept beyond the worker and the browser: who has stopped the machine does not want it to start
 * again by itself.
 */

import { CommandError } from '../command';
import { Kept } from '../storage';

const isTrue = (value: unknown): value is true => value === true;
const kept = new Kept<true>('local', 'stopped', isTrue);

export interface StopActions {
  /** Ends all that runs. */
  endAll(reason: CommandError): void;
  /** Lets go of every tab that the debugger holds. */
  detachAll(): Promise<void>;
  changed(): void;
}

export class StopSwitch {
  readonly #actions: StopActions;
  #stopped = false;

  constructor(actions: StopActions) {
    this.#actions = actions;
  }

  async load(): Promise<void> {
    this.#stopped = (await kept.load()) === true;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Throws if nothing may begin. */
  check(): void {
    if (this.#stopped) throw stoppedByUser();
  }

  /** Stops all that runs; returns when that is also written down. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#actions.endAll(stoppedByUser());
    this.#actions.changed();
    await Promise.all([kept.save(true), this.#actions.detachAll()]);
  }

  async resume(): Promise<void> {
    this.#stopped = false;
    this.#actions.changed();
    await kept.clear();
  }
}

function stoppedByUser(): CommandError {
  const message = 'the user has stopped Tabwire in this browser; ask them to press Resume';
  return new CommandError('STOPPED_BY_USER', message);
}
