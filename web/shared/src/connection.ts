/**
 * One socket from its opening to its end.
 *
 * Says `hello`, waits for `welcome`, checks every frame at the door, answers pings and notices
 * when the hub is gone. Out come whole messages and exactly one `closed`, in the order in which
 * the hub sent them although compressed pages take their time. What messages mean, and whether
 * to connect again, others decide.
 */

import { ProtocolError, parseFrame, parsePage } from './check';
import type { Clock } from './clock';
import { DEFLATES, deflate, inflate, SMALL_PAGE } from './compression';
import type { Bye, ToBrowser, Welcome } from './generated/protocol';
import { Heartbeat } from './heartbeat';
import { encode, type Sent } from './messages';
import { mayReturn } from './reconnect';
import type { Socket } from './socket';
import { Turns } from './turns';

/** What the connection does not answer itself. */
export type Business = Exclude<ToBrowser, { type: 'challenge' | 'welcome' | 'ping' | 'pong' | 'bye' }>;

/** How a connection ended. */
export interface Closed {
  readonly reason: string;
  /** Whether connecting again makes sense. */
  readonly retry: boolean;
}

export interface ConnectionEvents {
  welcome(welcome: Welcome): void;
  message(message: Business): void;
  closed(closed: Closed): void;
}

const WELCOME_WITHIN_MS = 10_000;
// Above this the log waits: it can drop the oldest honestly, a socket's queue cannot.
const MOST_UNWRITTEN = 1024 * 1024;

export class Connection {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #events: ConnectionEvents;
  #phase: 'opening' | 'welcomed' | 'closed' = 'opening';
  #heartbeat: Heartbeat | undefined;
  /** Whether pages may travel compressed. */
  readonly #deflates: boolean;
  readonly #incoming = new Turns();
  readonly #outgoing = new Turns();
  readonly #cancelOpening: () => void;

  constructor(socket: Socket, hello: Sent<'hello'>, clock: Clock, events: ConnectionEvents) {
    this.#socket = socket;
    this.#clock = clock;
    this.#events = events;
    this.#deflates = hello.capabilities?.includes(DEFLATES) ?? false;
    socket.binaryType = 'arraybuffer';
    this.#cancelOpening = clock.after(WELCOME_WITHIN_MS, () => {
      this.fail(4408, 'no welcome from the hub');
    });
    socket.addEventListener('open', () => this.#write(encode(hello)));
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
    const isPage = this.#deflates && data instanceof ArrayBuffer;
    this.#incoming.take(() => (isPage ? this.#takePage(data) : this.#takeText(data)));
  }

  #takeText(data: unknown): void {
    this.#guard(() => this.#dispatch(parseFrame(data)));
  }

  async #takePage(data: ArrayBuffer): Promise<void> {
    const inflated = await inflate(data).catch((error: unknown) => error);
    this.#guard(() => {
      if (typeof inflated !== 'string') throw inflated;
      this.#dispatch(parsePage(inflated));
    });
  }

  #guard(take: () => void): void {
    if (this.#phase === 'closed') return;
    try {
      take();
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.fail(4400, error.message);
    }
  }

  #dispatch(message: ToBrowser): void {
    if (message.type === 'bye') this.#bye(message);
    else if (message.type === 'ping') this.#write(encode({ type: 'pong' }));
    else if (message.type === 'pong') return;
    else if (message.type === 'welcome') this.#welcome(message);
    else if (message.type === 'challenge') throw new ProtocolError('nobody asked for a challenge');
    else if (this.isOpen) this.#events.message(message);
    else throw new ProtocolError(`${message.type} before welcome`);
  }

  #welcome(welcome: Welcome): void {
    if (this.#phase !== 'opening') throw new ProtocolError('welcome was already said');
    this.#phase = 'welcomed';
    this.#cancelOpening();
    this.#heartbeat = new Heartbeat(this.#clock, welcome.heartbeatMs, {
      ping: () => this.send(encode({ type: 'ping' })),
      dead: () => this.fail(4408, 'the hub does not answer'),
    });
    this.#events.welcome(welcome);
  }

  #bye({ code, retry, message }: Bye): void {
    this.#end({ reason: message ?? code, retry }, 1000);
  }

  #peerClosed(code: number, reason: string): void {
    this.#finish({ reason: reason || `closed with ${code}`, retry: mayReturn(code) });
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
