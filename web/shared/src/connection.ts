/**
 * One socket from its opening to its end.
 *
 * Says `hello`, waits for `welcome`, checks every frame at the door, answers pings and notices
 * when the hub is gone. With a prover it says who it is and nothing more until the hub has
 * proven itself. Out come whole messages and exactly one `closed`, in the order in which the hub
 * sent them although compressed pages and proofs take their time. What messages mean, and
 * whether to connect again, others decide.
 */

import { ProtocolError, parseFrame, parsePage } from './check';
import type { Clock } from './clock';
import { DEFLATES, deflate, inflate, SMALL_PAGE } from './compression';
import type { Bye, Challenge, ToBrowser, Welcome } from './generated/protocol';
import { Heartbeat } from './heartbeat';
import { encode, type Sent } from './messages';
import type { Prover } from './proof';
import { mayReturn } from './reconnect';
import type { Socket } from './socket';
import { Turns } from './turns';

/** What the connection does not answer itself. */
export type Business = Exclude<
  ToBrowser,
  { type: 'challenge' | 'welcome' | 'ping' | 'pong' | 'bye' }
>;

/** How a connection ended. */
export interface Closed {
  readonly reason: string;
  /** Whether connecting again makes sense. */
  readonly retry: boolean;
}

export interface ConnectionEvents {
  /** Takes the lasting key of a pairing that the hub has accepted; comes before `welcome`. */
  paired?(key: Uint8Array): void;
  welcome(welcome: Welcome): void;
  message(message: Business): void;
  closed(closed: Closed): void;
}

/** Who the peer is, and what it proves that with. */
export interface Introduction {
  readonly hello: Sent<'hello'>;
  readonly prover?: Prover | undefined;
}

/** Why a hub was left that does not know our key; its reason is in the status. */
export const UNPROVEN_HUB = { code: 4403, reason: 'the hub could not prove itself' } as const;

const WELCOME_WITHIN_MS = 10_000;
// Above this the log waits: it can drop the oldest honestly, a socket's queue cannot.
const MOST_UNWRITTEN = 1024 * 1024;

export class Connection {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #events: ConnectionEvents;
  /** `proving`: nothing but the greeting has been said, and the hub has proven nothing yet. */
  #phase: 'proving' | 'opening' | 'welcomed' | 'closed';
  readonly #hello: Sent<'hello'>;
  #prover: Prover | undefined;
  #lastingKey: Uint8Array | undefined;
  #heartbeat: Heartbeat | undefined;
  /** Whether pages may travel compressed. */
  readonly #deflates: boolean;
  readonly #incoming = new Turns();
  readonly #outgoing = new Turns();
  readonly #cancelOpening: () => void;

  constructor(
    socket: Socket,
    { hello, prover }: Introduction,
    clock: Clock,
    events: ConnectionEvents,
  ) {
    this.#hello = hello;
    this.#prover = prover;
    this.#phase = prover === undefined ? 'opening' : 'proving';
    this.#socket = socket;
    this.#clock = clock;
    this.#events = events;
    this.#deflates = hello.capabilities?.includes(DEFLATES) ?? false;
    socket.binaryType = 'arraybuffer';
    this.#cancelOpening = clock.after(WELCOME_WITHIN_MS, () => {
      this.fail(4408, 'no welcome from the hub');
    });
    socket.addEventListener('open', () => this.#write(encode(prover?.greeting(hello) ?? hello)));
    socket.addEventListener('message', ({ data }) => this.#receive(data));
    socket.addEventListener('close', ({ code, reason }) => {
      // A bye that came before it may still wait for its turn.
      this.#incoming.take(() => this.#peerClosed(code, reason));
    });
    // The close event that follows says the same; without a listener Node's `ws` would throw.
    socket.addEventListener('error', () => {});
  }

  /** Whether it was welcomed and has not ended. */
  get isOpen(): boolean {
    return this.#phase === 'welcomed';
  }

  /** Whether more can be sent without piling up in the socket. */
  get hasRoom(): boolean {
    return this.isOpen && !this.#outgoing.isBusy && this.#socket.bufferedAmount < MOST_UNWRITTEN;
  }

  /** Writes a frame; before the welcome and after the end it is dropped. */
  send(frame: string): void {
    this.#outgoing.take(() => this.#writeIfOpen(frame));
  }

  /** Writes a replay page, compressed where that is worth it; what is sent later comes later. */
  sendPage(page: string): void {
    if (!this.#deflates || page.length <= SMALL_PAGE) this.send(page);
    else this.#outgoing.take(() => this.#deflate(page));
  }

  /** Ends it because of a fault; a new one may do better. */
  fail(code: number, reason: string): void {
    this.#end({ reason, retry: true }, code);
  }

  /** Ends it on purpose. */
  close(): void {
    // Not in turn: what still waits is not wanted any more.
    this.#writeIfOpen(encode({ type: 'bye', code: 'normal', retry: false }));
    this.#end({ reason: 'closed', retry: false }, 1000);
  }

  #receive(data: unknown): void {
    if (this.#phase === 'closed') return;
    this.#heartbeat?.heard();
    // Nothing is inflated for whoever has not proven to be the hub.
    const isPage = this.#deflates && !this.#isUnproven && data instanceof ArrayBuffer;
    this.#incoming.take(() => (isPage ? this.#takePage(data) : this.#takeText(data)));
  }

  #takeText(data: unknown): void | Promise<void> {
    return this.#guard(() => this.#dispatch(parseFrame(data)));
  }

  async #takePage(data: ArrayBuffer): Promise<void> {
    const inflated = await inflate(data).catch((error: unknown) => error);
    return this.#guard(() => {
      if (typeof inflated !== 'string') throw inflated;
      return this.#dispatch(parsePage(inflated));
    });
  }

  /** Takes a message in; what takes time is waited for. */
  #guard(take: () => void | Promise<void>): void | Promise<void> {
    if (this.#phase === 'closed') return;
    try {
      return take();
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.fail(4400, error.message);
    }
  }

  #dispatch(message: ToBrowser): void | Promise<void> {
    if (message.type === 'bye') this.#bye(message);
    else if (message.type === 'challenge') return this.#challenged(message);
    else if (this.#phase === 'proving') throw new ProtocolError(`${message.type} before challenge`);
    else if (message.type === 'ping') this.#write(encode({ type: 'pong' }));
    else if (message.type === 'pong') return;
    else if (message.type === 'welcome') this.#welcome(message);
    else if (this.isOpen) this.#events.message(message);
    else throw new ProtocolError(`${message.type} before welcome`);
  }

  #challenged(challenge: Challenge): Promise<void> {
    const prover = this.#prover;
    if (prover === undefined) throw new ProtocolError('nobody asked for a challenge');
    // One challenge, one answer.
    this.#prover = undefined;
    return this.#prove(prover, challenge);
  }

  /** Leaves a hub that does not know our key without a further word; else proves that we do. */
  async #prove(prover: Prover, challenge: Challenge): Promise<void> {
    const proven = await prover.answer(challenge).catch(() => undefined);
    if (this.#phase !== 'proving') return;
    if (proven === undefined) {
      this.fail(UNPROVEN_HUB.code, UNPROVEN_HUB.reason);
      return;
    }
    this.#phase = 'opening';
    this.#lastingKey = proven.lasting;
    const { type, instanceId, kind, epoch = '', ...rest } = this.#hello;
    this.#write(encode({ ...rest, type: 'prove', proof: proven.proof, epoch }));
  }

  #welcome(welcome: Welcome): void {
    if (this.#phase !== 'opening') throw new ProtocolError('welcome was already said');
    this.#phase = 'welcomed';
    this.#cancelOpening();
    this.#heartbeat = new Heartbeat(this.#clock, welcome.heartbeatMs, {
      ping: () => this.send(encode({ type: 'ping' })),
      dead: () => this.fail(4408, 'the hub does not answer'),
    });
    if (this.#lastingKey !== undefined) this.#events.paired?.(this.#lastingKey);
    this.#events.welcome(welcome);
  }

  #bye({ code, retry, message }: Bye): void {
    this.#end({ reason: message ?? code, retry: retry || this.#isUnproven }, 1000);
  }

  #peerClosed(code: number, reason: string): void {
    const retry = mayReturn(code) || this.#isUnproven;
    this.#finish({ reason: reason || `closed with ${code}`, retry });
  }

  /** Whoever is there may not be the hub, so its word that we shall not return counts for nothing. */
  get #isUnproven(): boolean {
    return this.#phase === 'proving';
  }

  async #deflate(page: string): Promise<void> {
    // Better large than never: the hub asks only once.
    this.#writeIfOpen(await deflate(page).catch(() => page));
  }

  #writeIfOpen(frame: string | Uint8Array<ArrayBuffer>): void {
    if (this.isOpen) this.#write(frame);
  }

  #write(frame: string | Uint8Array<ArrayBuffer>): void {
    try {
      this.#socket.send(frame);
    } catch (error) {
      this.fail(4499, error instanceof Error ? error.message : 'the socket takes nothing');
    }
  }

  #end(closed: Closed, code: number): void {
    if (this.#phase === 'closed') return;
    // A close frame holds 123 bytes of reason; 40 characters are never more.
    this.#socket.close(code, closed.reason.slice(0, 40));
    this.#finish(closed);
  }

  /** Does not wait for the socket: on a dead network its end can take a minute. */
  #finish(closed: Closed): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#cancelOpening();
    this.#heartbeat?.stop();
    this.#events.closed(closed);
  }
}
