/**
 * A WebSocket without a network: the test plays the other side.
 *
 * It keeps what was sent, parsed and checked against the protocol, and says what the test
 * tells it to. Each `Sockets` makes its own constructor, so that tests do not share anything.
 */

import assert from 'node:assert/strict';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { findFault } from '../../src/check';
import { type FromBrowser, fromBrowserSchema, type ToBrowser } from '../../src/generated/protocol';
import type { Sent } from '../../src/messages';
import type { Socket, SocketConstructor } from '../../src/socket';

interface AnyEvent {
  data: unknown;
  code: number;
  reason: string;
}

export class FakeSocket implements Socket {
  bufferedAmount = 0;
  binaryType = 'blob';
  readonly url: string;
  readonly protocols: readonly string[];
  /** What the client sent. */
  readonly sent: FromBrowser[] = [];
  /** Sizes of what it sent compressed. */
  readonly compressed: number[] = [];
  /** How the client closed it, if it did. */
  closedBy: { code: number | undefined; reason: string | undefined } | undefined;
  /** Called with each message as it is sent. */
  onSent: ((message: FromBrowser) => void) | undefined;
  readonly #listeners = new Map<string, ((event: AnyEvent) => void)[]>();

  constructor(url: string, protocols: readonly string[]) {
    this.url = url;
    this.protocols = protocols;
  }

  addEventListener(type: string, listener: (event: AnyEvent) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  send(data: string | Uint8Array): void {
    const text = typeof data === 'string' ? data : this.#inflate(data);
    const message: unknown = JSON.parse(text);
    assert.equal(findFault(fromBrowserSchema, message), undefined, text);
    this.sent.push(message as FromBrowser);
    this.onSent?.(message as FromBrowser);
  }

  close(code?: number, reason?: string): void {
    this.closedBy ??= { code, reason };
  }

  /** The connection stands. */
  open(): void {
    this.#emit('open', {});
  }

  /** The hub says something. */
  say(message: ToBrowser): void {
    this.sayRaw(JSON.stringify(message));
  }

  /** The hub says something compressed. */
  sayCompressed(message: ToBrowser): void {
    this.sayBytes(deflateRawSync(JSON.stringify(message)));
  }

  /** The hub sends a binary frame. */
  sayBytes(bytes: Uint8Array): void {
    assert.equal(this.binaryType, 'arraybuffer');
    this.sayRaw(Uint8Array.from(bytes).buffer);
  }

  /** The hub says something that may be nonsense. */
  sayRaw(data: unknown): void {
    this.#emit('message', { data });
  }

  /** The connection ends from outside. */
  end(code = 1006, reason = ''): void {
    this.#emit('error', {});
    this.#emit('close', { code, reason });
  }

  /** Something is wrong, and nothing follows. */
  failOnly(): void {
    this.#emit('error', {});
  }

  /** Returns what was sent of one type. */
  of<Type extends FromBrowser['type']>(type: Type): Sent<Type>[] {
    return this.sent.filter((message): message is Sent<Type> => message.type === type);
  }

  #inflate(data: Uint8Array): string {
    this.compressed.push(data.byteLength);
    const text = inflateRawSync(data).toString();
    assert.equal(JSON.parse(text).type, 'replayPage', 'nothing else is compressed');
    return text;
  }

  #emit(type: string, event: Partial<AnyEvent>): void {
    for (const listener of this.#listeners.get(type) ?? []) {
      listener({ data: undefined, code: 0, reason: '', ...event });
    }
  }
}

/** All sockets that one client opened. */
export class Sockets {
  readonly all: FakeSocket[] = [];
  readonly constructorForClient: SocketConstructor;

  constructor() {
    const { all } = this;
    this.constructorForClient = class extends FakeSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols);
        all.push(this);
      }
    };
  }

  /** The newest. */
  get last(): FakeSocket {
    const socket = this.all.at(-1);
    assert.ok(socket, 'no socket was opened');
    return socket;
  }
}

/** A welcome for a test to change. */
export function welcome(over: Partial<Extract<ToBrowser, { type: 'welcome' }>> = {}): ToBrowser {
  return {
    type: 'welcome',
    sessionId: 's_1',
    name: 'viewer',
    serverVersion: '0.1.0',
    heartbeatMs: 20_000,
    epoch: 'hub',
    currentSequence: 0,
    received: { epoch: 'none', sequence: 0 },
    recovered: true,
    replay: [],
    more: false,
    resumeToken: 'token',
    ...over,
  };
}
