/**
 * The incoming side of recovery: delivers the hub's events in order, each once.
 *
 * In come events, pages and welcomes in whatever order a bad network leaves them in; out come
 * `deliver` with exactly the next event, `ask` at most once per gap, and `resync` when the
 * hub says that something is lost. No socket, no timer: acks are somebody else's.
 */

import { asEvent, ProtocolError } from './check';
import type { Event, Position, RefusedResume, ReplayPage, Welcome } from './generated/protocol';

export interface ReceiverActions {
  /** Hands on the next event. */
  deliver(event: Event): void;
  /** Asks the hub for what follows a position. */
  ask(from: Position): void;
  /** Tells that events are lost and the position was moved. */
  resync(reason: RefusedResume): void;
}

export class Receiver {
  readonly #actions: ReceiverActions;
  #position: Position | undefined;
  #asking = false;

  constructor(actions: ReceiverActions, position?: Position) {
    this.#actions = actions;
    this.#position = position;
  }

  /** How far the hub's log has been delivered; none before the first welcome. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** Whether an answer to `ask` is due. */
  get asking(): boolean {
    return this.#asking;
  }

  /** Starts over on a new connection: what was asked on the old one is never answered. */
  welcome(welcome: Welcome): void {
    this.#asking = false;
    const before = this.#position;
    const reason = refusal(welcome, before);
    if (reason !== undefined) {
      this.#position = { epoch: welcome.epoch, sequence: welcome.currentSequence };
      if (before !== undefined) this.#actions.resync(reason);
      return;
    }
    this.#position = before ?? { epoch: welcome.epoch, sequence: firstPlace(welcome) };
    this.#takeAll(welcome.replay);
    if (this.#last < welcome.currentSequence) this.#ask();
  }

  /** Takes an event as it happens. */
  event(event: Event): void {
    if (event.sequence > this.#last + 1) this.#ask();
    else this.#take(event);
  }

  /** Takes a page of what was missed; one that leaves a hole breaks the protocol. */
  page(page: ReplayPage): void {
    if (page.partial) return;
    if (!page.recovered) {
      this.#asking = false;
      this.#position = { epoch: page.epoch, sequence: page.upto };
      this.#actions.resync(page.reason ?? 'gap');
      return;
    }
    if (page.epoch !== this.#position?.epoch) throw new ProtocolError('a page of another log');
    this.#takePage(page);
  }

  get #last(): number {
    return this.#position?.sequence ?? 0;
  }

  #takePage(page: ReplayPage): void {
    const before = this.#last;
    this.#takeAll(page.messages.map(asEvent));
    if (this.#last < page.upto) throw new ProtocolError('a page that does not reach its end');
    this.#asking = false;
    if (!page.more) return;
    if (this.#last === before) throw new ProtocolError('a page that leads nowhere');
    this.#ask();
  }

  #takeAll(events: readonly Event[]): void {
    for (const event of events) {
      if (event.sequence > this.#last + 1) throw new ProtocolError('a page with a hole');
      this.#take(event);
    }
  }

  #take(event: Event): void {
    if (this.#position === undefined || event.sequence !== this.#last + 1) return;
    // Moved first, so that a callback which asks for the position finds the event in it.
    this.#position = { epoch: this.#position.epoch, sequence: event.sequence };
    this.#actions.deliver(event);
  }

  #ask(): void {
    if (this.#asking || this.#position === undefined) return;
    this.#asking = true;
    this.#actions.ask(this.#position);
  }
}

function refusal(welcome: Welcome, before: Position | undefined): RefusedResume | undefined {
  if (!welcome.recovered) return welcome.reason ?? 'gap';
  if (before === undefined) return undefined;
  if (before.epoch !== welcome.epoch) return 'epoch_changed';
  return before.sequence > welcome.currentSequence ? 'future_sequence' : undefined;
}

/** Tells where a log begins for one who has seen nothing of it: where the hub begins. */
function firstPlace({ replay, more, currentSequence }: Welcome): number {
  const first = replay[0];
  if (first !== undefined) return first.sequence - 1;
  return more ? 0 : currentSequence;
}
