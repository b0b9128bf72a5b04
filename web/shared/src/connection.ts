/**
 * One socket from its opening to its end.
 *
 * Says `hello`, waits for `welcome`, checks every frame at the door, answers pings and notices
 * when the hub is gone. Out come whole messages and exactly one `closed`. What messages mean,
 * and whether to connect again, others decide.
 */

import { ProtocolError, parseFrame } from './check';
import type { Clock } from './clock';
import type { Bye, ToBrowser, Welcome } from './generated/protocol';
import { Heartbeat } from './heartbeat';
import { encode, type Sent } from './messages';
import { mayReturn } from './reconnect';
import type { Socket } from './socket';

/** What the connection does not answer itself. */
export type Business = Exclude<ToBrowser, { type: 'welcome' | 'ping' | 'pong' | 'bye' }>;

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
  readonly #cancelOpening: () => void;

  constructor(socket: Socket, hello: Sent<'hello'>, clock: Clock, events: ConnectionEvents) {
    this.#socket = socket;
    this.#clock = clock;
    this.#events = events;
    this.#cancelOpening = clock.after(WELCOME_WITHIN_MS, () => {
      this.fail(4408, 'no welcome from the hub');
    });
    socket.addEventListener('open', () => this.#write(encode(hello)));
    socket.addEventListener('message', ({ data }) => this.#receive(data));
    socket.addEventListener('close', ({ code, reason }) => this.#peerClosed(code, reason));
    // The close event that follows says the same; without a listener Node's `ws` would throw.
    socket.addEventListener('error', () => {});
  }

  /** Whether it was welcomed and has not ended. */
  get isOpen(): boolean {
    return this.#phase === 'welcomed';
  }

  /** Whether more can be sent without piling up in the socket. */
  get hasRoom(): boolean {
    return this.isOpen && this.#socket.bufferedAmount < MOST_UNWRITTEN;
  }

  /** Writes a frame; before the welcome and after the end it is dropped. */
  send(frame: string): void {
    if (this.isOpen) this.#write(frame);
  }

  /** Ends it because of a fault; a new one may do better. */
  fail(code: number, reason: string): void {
    this.#end({ reason, retry: true }, code);
  }

  /** Ends it on purpose. */
  close(): void {
    this.send(encode({ type: 'bye', code: 'normal', retry: false }));
    this.#end({ reason: 'closed', retry: false }, 1000);
  }

  #receive(data: unknown): void {
    if (this.#phase === 'closed') return;
    this.#heartbeat?.heard();
    try {
      this.#dispatch(parseFrame(data));
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

  #write(frame: string): void {
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
