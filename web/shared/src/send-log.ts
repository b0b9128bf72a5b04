/**
 * The outgoing log: numbers messages and keeps them until the hub has acked them.
 *
 * In come messages, acks and what the hub says it has seen; out come frames, oldest first, by
 * `take`. What had to be dropped before it was received is announced, never skipped in
 * silence. It has no socket and no timer: who owns it asks for frames when there is room.
 */

import type { Position, RefusedResume, ReplayRequest } from './generated/protocol';
import { checkJson, LARGEST_NUMBERED, stringify } from './json';
import { encodeWith, type Raw, type Sent, splice, type Unnumbered } from './messages';

/** How much the log keeps; what is over goes, oldest first. */
export interface LogLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/** What the protocol asks for. */
export const DEFAULT_LOG_LIMITS: LogLimits = {
  maxMessages: 1000,
  maxBytes: 8 * 1024 * 1024,
  maxAgeMs: 15 * 60_000,
};

/** A frame to write; with `gap` it is the announcement that messages before it are lost. */
export interface Taken {
  readonly frame: string;
  readonly gap?: RefusedResume;
}

interface Entry {
  readonly sequence: number;
  readonly json: string;
  readonly bytes: number;
  readonly at: number;
  /** The names by which a selection can mean it. */
  readonly names: readonly string[];
  readonly isError: boolean;
}

const PAGE_MESSAGES = 100;
const PAGE_BYTES = 4 * 1024 * 1024;

export class SendLog {
  /** The log's own name. */
  readonly epoch: string;
  readonly #limits: LogLimits;
  readonly #now: () => number;
  /** Without holes: each number is one more than the one before. */
  readonly #entries: Entry[] = [];
  #bytes = 0;
  /** The number of the next message. */
  #next = 1;
  /** The number that is written next on this connection. */
  #cursor = 1;
  /** Why messages before the oldest are gone; those that were acked count as `gap`. */
  #lost: RefusedResume = 'gap';
  /** What must be announced before anything else is written. */
  #refused: RefusedResume | undefined;

  constructor(epoch: string, now: () => number, limits: LogLimits = DEFAULT_LOG_LIMITS) {
    this.epoch = epoch;
    this.#now = now;
    this.#limits = limits;
  }

  /** Numbers and keeps a message; throws, without using up a number, if no hub would take it. */
  append(message: Unnumbered, raw?: Raw): void {
    const sequence = this.#next;
    const head = stringify({ ...message, sequence });
    const json = raw === undefined ? head : splice(head, raw);
    const bytes = checkJson(json, LARGEST_NUMBERED);
    const names = message.type === 'event' ? [message.type, message.name] : [message.type];
    const isError = message.type === 'event' && message.level === 'error';
    this.#entries.push({ sequence, json, bytes, at: this.#now(), names, isError });
    this.#bytes += bytes;
    this.#next++;
    this.#trim();
  }

  /** Forgets what the hub has kept. An ack for what was never written is no ack. */
  ack({ epoch, sequence }: Position): void {
    if (epoch !== this.epoch || sequence >= this.#cursor) return;
    while (this.#oldest <= sequence && this.#entries.length > 0) this.#drop('gap');
  }

  /** Goes back to what the hub says it has seen; what follows is taken again. */
  resume(received: Position): void {
    this.#trim();
    const nothingSeen = received.sequence === 0 && this.#oldest === 1;
    const reason = this.#refusal(received);
    this.#rewind(received, nothingSeen ? undefined : reason);
  }

  /** Returns the next frame to write, or nothing when all is written. */
  take(): Taken | undefined {
    this.#trim();
    if (this.#cursor < this.#oldest) this.#refused ??= this.#lost;
    const reason = this.#refused;
    if (reason !== undefined) return this.#takeRefusal(reason);
    const entry = this.#entries[this.#cursor - this.#oldest];
    if (entry === undefined) return undefined;
    this.#cursor++;
    return { frame: entry.json };
  }

  /** Answers the hub's request with a page; nothing means that `take` has the answer. */
  answer(request: ReplayRequest): string | undefined {
    this.#trim();
    const reason = this.#refusal(request.from);
    if (isSelection(request)) return this.#selection(request, reason);
    if (reason !== undefined) {
      this.#rewind(request.from, reason);
      return undefined;
    }
    return this.#page(request.from.sequence);
  }

  get #oldest(): number {
    return this.#next - this.#entries.length;
  }

  #refusal({ epoch, sequence }: Position): RefusedResume | undefined {
    if (epoch !== this.epoch) return 'epoch_changed';
    if (sequence >= this.#next) return 'future_sequence';
    return sequence < this.#oldest - 1 ? this.#lost : undefined;
  }

  #rewind({ epoch, sequence }: Position, reason: RefusedResume | undefined): void {
    const from = epoch === this.epoch ? sequence + 1 : 1;
    this.#cursor = Math.max(this.#oldest, Math.min(from, this.#next));
    this.#refused = reason;
  }

  #takeRefusal(reason: RefusedResume): Taken {
    this.#refused = undefined;
    this.#cursor = Math.max(this.#cursor, this.#oldest);
    const head = { upto: this.#cursor - 1, recovered: false, reason, more: false };
    return { frame: this.#replayPage(head, []), gap: reason };
  }

  #page(from: number): string {
    const following = this.#entries.slice(from + 1 - this.#oldest);
    const messages = firstPage(following);
    const upto = from + messages.length;
    this.#cursor = Math.max(this.#cursor, upto + 1);
    const more = messages.length < following.length;
    return this.#replayPage({ upto, recovered: true, more }, messages);
  }

  #selection(request: ReplayRequest, reason: RefusedResume | undefined): string {
    if (reason !== undefined) {
      const head = { upto: this.#oldest - 1, recovered: false, reason, more: false, partial: true };
      return this.#replayPage(head, []);
    }
    const chosen = select(this.#entries, request);
    const messages = firstPage(chosen);
    const more = messages.length < chosen.length;
    // In another order there is no place up to which everything was seen.
    const last = request.errorsFirst ? undefined : messages.at(-1);
    const upto = last?.sequence ?? request.from.sequence;
    return this.#replayPage({ upto, recovered: true, more, partial: true }, messages);
  }

  #replayPage(
    head: Omit<Sent<'replayPage'>, 'type' | 'epoch' | 'messages'>,
    messages: readonly Entry[],
  ): string {
    const json = `[${messages.map((entry) => entry.json).join(',')}]`;
    return encodeWith<Sent<'replayPage'>, 'messages'>(
      { type: 'replayPage', epoch: this.epoch, ...head },
      { field: 'messages', json },
    );
  }

  #trim(): void {
    const { maxMessages, maxBytes, maxAgeMs } = this.#limits;
    while (this.#entries.length > maxMessages || this.#bytes > maxBytes) this.#drop('gap');
    const before = this.#now() - maxAgeMs;
    for (let entry = this.#entries[0]; entry && entry.at < before; entry = this.#entries[0]) {
      this.#drop('expired');
    }
  }

  #drop(reason: RefusedResume): void {
    this.#bytes -= this.#entries.shift()?.bytes ?? 0;
    this.#lost = reason;
  }
}

function isSelection(request: ReplayRequest): boolean {
  return request.errorsFirst === true || (request.types?.length ?? 0) > 0;
}

function select(entries: readonly Entry[], { from, types, errorsFirst }: ReplayRequest): Entry[] {
  const wanted = new Set<string>(types);
  const chosen = entries.filter(
    (entry) =>
      entry.sequence > from.sequence &&
      (wanted.size === 0 || entry.names.some((name) => wanted.has(name))),
  );
  if (!errorsFirst) return chosen;
  return [...chosen.filter((entry) => entry.isError), ...chosen.filter((entry) => !entry.isError)];
}

/** Takes as many as a page holds, but at least one. */
function firstPage(entries: readonly Entry[]): Entry[] {
  let bytes = 0;
  const page = entries.slice(0, PAGE_MESSAGES);
  const end = page.findIndex((entry) => {
    bytes += entry.bytes;
    return bytes > PAGE_BYTES;
  });
  return end === -1 ? page : page.slice(0, Math.max(1, end));
}
