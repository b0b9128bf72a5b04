/**
 * Moves numbered messages from the log to the connection, as fast as it takes them.
 *
 * The log is the queue: what a slow or absent connection does not take stays there, and what
 * it must drop it announces. After a gap the hub needs everything anew, so the owner's
 * `resync` is called once all that was kept has been written.
 */

import type { Clock } from './clock';
import type { Connection } from './connection';
import type { Position, RefusedResume, ReplayRequest } from './generated/protocol';
import type { Raw, Unnumbered } from './messages';
import type { SendLog } from './send-log';

export interface SenderActions {
  /** Notes that the hub misses messages. */
  gap(): void;
  /** Sends anew what the hub must know. */
  resync(reason: RefusedResume): void;
}

const TRY_AGAIN_MS = 20;

export class Sender {
  readonly #log: SendLog;
  readonly #clock: Clock;
  readonly #actions: SenderActions;
  #connection: Connection | undefined;
  #due: RefusedResume | undefined;
  #cancel: (() => void) | undefined;

  constructor(log: SendLog, clock: Clock, actions: SenderActions) {
    this.#log = log;
    this.#clock = clock;
    this.#actions = actions;
  }

  /** Numbers a message; it goes out now or when it can. */
  append(message: Unnumbered, raw?: Raw): void {
    this.#log.append(message, raw);
    this.#pump();
  }

  /** Goes on with a connection from where the hub says it is. */
  attach(connection: Connection, received: Position): void {
    this.#connection = connection;
    this.#log.resume(received);
    this.#pump();
  }

  /** Goes on without; messages stay in the log. */
  detach(): void {
    this.#connection = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Forgets what the hub has kept. */
  ack(position: Position): void {
    this.#log.ack(position);
  }

  /** Answers the hub's request for what it missed. */
  answer(request: ReplayRequest): void {
    const page = this.#log.answer(request);
    if (page !== undefined) this.#connection?.sendPage(page);
    this.#pump();
  }

  /** Sends everything anew, as soon as all else is written. */
  resync(reason: RefusedResume): void {
    this.#due = reason;
    this.#pump();
  }

  #pump(): void {
    while (this.#connection?.hasRoom) {
      if (this.#writeNext()) continue;
      const reason = this.#due;
      if (reason === undefined) return;
      this.#due = undefined;
      this.#actions.resync(reason);
    }
    if (this.#connection !== undefined) this.#tryAgain();
  }

  #writeNext(): boolean {
    const next = this.#log.take();
    if (next === undefined) return false;
    this.#connection?.send(next.frame);
    if (next.gap !== undefined) {
      this.#due = next.gap;
      this.#actions.gap();
    }
    return true;
  }

  #tryAgain(): void {
    this.#cancel ??= this.#clock.after(TRY_AGAIN_MS, () => {
      this.#cancel = undefined;
      this.#pump();
    });
  }
}
