/**
 * Keeps a peer connected: opens connections one after the other until told to stop.
 *
 * Finds the hub, decides with the policy when to try next, and tells where it stands. Who the
 * peer is and what its messages mean, the owner knows.
 */

import type { Clock } from './clock';
import { type Business, type Closed, Connection } from './connection';
import type { Welcome } from './generated/protocol';
import type { Sent } from './messages';
import { type Credentials, Prover } from './proof';
import type { ReconnectPolicy } from './reconnect';
import { type SocketConstructor, socketUrl } from './socket';

/** Where the client stands. */
export type Status =
  | { readonly type: 'connecting' }
  | { readonly type: 'connected'; readonly sessionId: string; readonly name: string }
  | { readonly type: 'waiting'; readonly retryInMs: number; readonly reason: string }
  | { readonly type: 'stopped'; readonly reason: string };

/** A hub's address, or what finds it anew before each attempt. */
export type HubUrl = string | (() => string | Promise<string>);

export interface ConnectorParts {
  readonly url: HubUrl;
  readonly webSocket: SocketConstructor;
  /** What sockets offer. */
  readonly protocols: string[];
  readonly clock: Clock;
  readonly policy: ReconnectPolicy;
  /** Introduces the peer, as it stands now. */
  hello(): Sent<'hello'>;
  /** Finds what the peer proves itself with, after the hub was found; nothing means no proof. */
  credentials?(): Promise<Credentials | undefined>;
  /** Takes the lasting key of a pairing. */
  paired(key: Uint8Array): void;
  /** Takes a welcome; the status `connected` is the owner's to tell. */
  welcome(connection: Connection, welcome: Welcome): void;
  message(connection: Connection, message: Business): void;
  /** Tells that the connection that was welcomed is gone. */
  lost(): void;
  status(status: Status): void;
}

export class Connector {
  readonly #parts: ConnectorParts;
  #connection: Connection | undefined;
  #welcomedAt: number | undefined;
  #cancelRetry: (() => void) | undefined;
  #stopped = false;

  constructor(parts: ConnectorParts) {
    this.#parts = parts;
  }

  /** Makes an attempt now; the owner calls it once, for the first. */
  async connect(): Promise<void> {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#parts.policy.attempt(this.#parts.clock.now());
    this.#parts.status({ type: 'connecting' });
    // A fixed address that is wrong stays wrong; what is looked up may be right later.
    let retry = true;
    try {
      const { url } = this.#parts;
      const hub = typeof url === 'string' ? url : await url();
      const credentials = this.#parts.credentials && (await this.#parts.credentials());
      retry = typeof url !== 'string';
      if (!this.#stopped) this.#open(hub, credentials);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'the hub was not found';
      this.#closed({ reason, retry });
    }
  }

  /** Ends a wait early: the network is back, or the user asks. */
  retryNow(): void {
    if (this.#cancelRetry !== undefined) void this.connect();
  }

  /** Ends it for good. */
  stop(): void {
    if (this.#stopped) return;
    if (this.#connection !== undefined) this.#connection.close();
    else this.#closed({ reason: 'closed', retry: false });
  }

  #open(hub: string, credentials: Credentials | undefined): void {
    const hello = this.#parts.hello();
    const { instanceId } = hello;
    const { webSocket, protocols } = this.#parts;
    const prover = credentials && new Prover(credentials, { instanceId, dialled: hub });
    const socket = new webSocket(socketUrl(hub, instanceId), protocols);
    const connection = new Connection(socket, { hello, prover }, this.#parts.clock, {
      paired: (key) => this.#parts.paired(key),
      welcome: (welcome) => this.#welcomed(connection, welcome),
      message: (message) => this.#parts.message(connection, message),
      closed: (closed) => this.#closed(closed),
    });
    this.#connection = connection;
  }

  #welcomed(connection: Connection, welcome: Welcome): void {
    this.#welcomedAt = this.#parts.clock.now();
    this.#parts.welcome(connection, welcome);
  }

  #closed({ reason, retry }: Closed): void {
    if (this.#stopped) return;
    const welcomedAt = this.#welcomedAt;
    this.#connection = undefined;
    this.#welcomedAt = undefined;
    this.#parts.lost();
    if (retry) this.#wait(reason, welcomedAt);
    else this.#finish(reason);
  }

  #wait(reason: string, welcomedAt: number | undefined): void {
    const { clock, policy, status } = this.#parts;
    const retryInMs = Math.ceil(policy.lost(clock.now(), welcomedAt));
    this.#cancelRetry = clock.after(retryInMs, () => void this.connect());
    status({ type: 'waiting', retryInMs, reason });
  }

  #finish(reason: string): void {
    this.#stopped = true;
    this.#cancelRetry?.();
    this.#parts.status({ type: 'stopped', reason });
  }
}
