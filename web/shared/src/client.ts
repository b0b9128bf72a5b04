/**
 * The reconnecting client: wires log, receiver, calls and state to one connection at a time.
 *
 * In come the owner's wishes and the hub's messages; each is handed to the piece that knows
 * about it. What must outlive a connection lives here, what must outlive this page or worker
 * in the owner's `memory` and `results`.
 */

import { Acks } from './acks';
import { Calls } from './calls';
import { canDeflate, DEFLATES } from './compression';
import type { Business, Connection } from './connection';
import { Connector, type Status } from './connector';
import type { Event, Level, Position, Tab, ToolSpec, Welcome } from './generated/protocol';
import { Identity } from './identity';
import { encode, type Sent, type Unnumbered } from './messages';
import { type ClientOptions, type Settled, settle } from './options';
import { randomId } from './random-id';
import { Receiver } from './receiver';
import { ReconnectPolicy } from './reconnect';
import { SendLog } from './send-log';
import { Sender } from './sender';
import { StateFeed } from './state-feed';

const REPLAY_WITHIN_MS = 10_000;

/** Tells the hub that it may ask after a reconnect what became of a call. */
const KEEPS_RESULTS = 'results';

export class Client {
  readonly #options: ClientOptions;
  readonly #settled: Settled;
  readonly #log: SendLog;
  readonly #sender: Sender;
  readonly #acks: Acks;
  readonly #calls: Calls;
  readonly #feed: StateFeed;
  readonly #connector: Connector;
  /** All tools that were told, by tab; the app's own stand under `undefined`. */
  readonly #tools = new Map<number | undefined, readonly ToolSpec[]>();
  #receiver: Receiver;
  #identity: Identity | undefined;
  #connection: Connection | undefined;
  #status: Status = { type: 'connecting' };
  #cancelReplayWait: (() => void) | undefined;

  constructor(options: ClientOptions) {
    const settled = settle(options);
    const { clock, results, onError } = settled;
    const send = (frame: string) => this.#connection?.send(frame);
    this.#options = options;
    this.#settled = settled;
    this.#log = new SendLog(randomId(), () => clock.now(), settled.log);
    this.#sender = new Sender(this.#log, clock, {
      gap: () => this.#feed.restart(),
      resync: (reason) => {
        this.#feed.restart();
        this.#tell(() => options.onResync?.(reason));
        for (const [tabId, tools] of this.#tools) this.#appendTools(tools, tabId);
      },
    });
    this.#receiver = this.#newReceiver(undefined);
    this.#acks = new Acks(clock, () => this.#ack());
    this.#calls = new Calls({ handler: options.onCall, results, clock, send, onError });
    this.#feed = new StateFeed({
      handler: options.onState,
      clock,
      append: (message, raw) => this.#sender.append(message, raw),
      send,
      onError,
    });
    this.#connector = this.#newConnector();
    void this.#start();
  }

  /** Where the client stands now. */
  get status(): Status {
    return this.#status;
  }

  /** Tells that something happened; throws if `data` is not JSON or is too large. */
  sendEvent(name: string, data?: unknown, level: Level = 'info'): void {
    this.#append({ type: 'event', name, level, data: data ?? null });
  }

  /** Tells the app's state; call it on every change, it is coalesced. */
  pushState(state: unknown): void {
    if (!this.#isStopped) this.#feed.push(state);
  }

  /** Tells the state now if it waits to be told: a call is over, its effect must be seen. */
  flushState(): void {
    this.#feed.flush();
  }

  /** Tells all tools of the app, or of the page in a tab, as they are now. */
  setTools(tools: readonly ToolSpec[], tabId?: number): void {
    this.#appendTools(tools, tabId);
    this.#tools.set(tabId, tools);
  }

  tabCreated(tab: Tab): void {
    this.#append({ type: 'tabCreated', tab });
  }

  tabUpdated(tab: Tab): void {
    this.#append({ type: 'tabUpdated', tab });
  }

  /** Tells that a tab is gone, and its page's tools with it. */
  tabClosed(tabId: number): void {
    this.#append({ type: 'tabClosed', tabId });
    this.#tools.delete(tabId);
  }

  tabFocused(tabId: number): void {
    this.#append({ type: 'tabFocused', tabId });
  }

  /** Ends a wait before the next attempt: the network is back, or the user asks. */
  retryNow(): void {
    this.#connector.retryNow();
  }

  /** Ends the client for good: leaves the hub and stops all calls. */
  close(): void {
    if (this.#isStopped) return;
    this.#identity?.save(this.#receiver.position);
    this.#connector.stop();
  }

  get #isStopped(): boolean {
    return this.#status.type === 'stopped';
  }

  async #start(): Promise<void> {
    const { memory, instanceId } = this.#options;
    const identity = await Identity.load(memory, instanceId, this.#settled.onError);
    if (this.#isStopped) return;
    this.#identity = identity;
    this.#receiver = this.#newReceiver(identity.startPosition);
    await this.#connector.connect();
  }

  #newConnector(): Connector {
    const { clock, webSocket, protocols, reconnect, random } = this.#settled;
    const { credentials } = this.#options;
    return new Connector({
      ...(credentials !== undefined && { credentials }),
      paired: (key) => this.#tell(() => this.#options.onPaired?.(key)),
      url: this.#options.url,
      webSocket,
      protocols,
      clock,
      policy: new ReconnectPolicy(reconnect, random),
      hello: () => this.#hello(),
      welcome: (connection, welcome) => this.#welcome(connection, welcome),
      message: (connection, message) => this.#dispatch(connection, message),
      lost: () => this.#lost(),
      status: (status) => this.#setStatus(status),
    });
  }

  #newReceiver(position: Position | undefined): Receiver {
    return new Receiver(
      {
        deliver: (event) => this.#deliver(event),
        ask: (from) => this.#ask(from),
        resync: (reason) => this.#sender.resync(reason),
      },
      position,
    );
  }

  #hello(): Sent<'hello'> {
    const { kind, version, capabilities = [], commands } = this.#options;
    const name = this.#name();
    const position = this.#receiver.position;
    const resumeToken = this.#identity?.resumeToken;
    return {
      type: 'hello',
      instanceId: this.#identity?.instanceId ?? '',
      kind,
      capabilities: offered(capabilities),
      epoch: this.#log.epoch,
      ...(name !== undefined && { name }),
      ...(version !== undefined && { version }),
      ...(commands !== undefined && { commands: [...commands] }),
      ...(position !== undefined && { position }),
      ...(resumeToken !== undefined && { resumeToken }),
    };
  }

  #name(): string | undefined {
    const { name } = this.#options;
    return typeof name === 'function' ? name() : name;
  }

  #welcome(connection: Connection, welcome: Welcome): void {
    this.#connection = connection;
    this.#identity?.renew(welcome.resumeToken);
    this.#setStatus({ type: 'connected', sessionId: welcome.sessionId, name: welcome.name });
    try {
      this.#receiver.welcome(welcome);
    } finally {
      // Even if the replay was broken: the old token is spent.
      this.#identity?.save(this.#receiver.position);
    }
    // A callback may have closed the client meanwhile.
    if (connection.isOpen) this.#sender.attach(connection, welcome.received);
  }

  #dispatch(connection: Connection, message: Business): void {
    switch (message.type) {
      case 'callTool':
      case 'openTab':
      case 'closeTab':
      case 'focusTab':
      case 'discoverTools':
        void this.#calls.take(message);
        return;
      case 'cancel':
        this.#calls.cancel(message.callId);
        return;
      case 'callQuery':
        void this.#calls.query(message.callId);
        return;
      case 'requestState':
        void this.#feed.answer(message);
        return;
      case 'event':
        this.#receiver.event(message);
        return;
      case 'replayPage':
        this.#cancelReplayWait?.();
        this.#receiver.page(message);
        return;
      case 'replayRequest':
        this.#sender.answer(message);
        return;
      case 'ack':
        this.#sender.ack(message.position);
        return;
      default:
        message satisfies never;
        connection.fail(4400, 'a message that is not known');
    }
  }

  #deliver(event: Event): void {
    if (this.#isStopped) return;
    this.#tell(() => this.#options.onEvent?.(event));
    if (this.#connection !== undefined) this.#acks.note();
  }

  #ask(from: Position): void {
    const connection = this.#connection;
    connection?.send(encode({ type: 'replayRequest', from }));
    this.#cancelReplayWait?.();
    // A hub that lives but does not answer would leave the stream standing for ever.
    this.#cancelReplayWait = this.#settled.clock.after(REPLAY_WITHIN_MS, () => {
      connection?.fail(4408, 'no answer to replayRequest');
    });
  }

  #ack(): void {
    const position = this.#receiver.position;
    if (position === undefined) return;
    this.#connection?.send(encode({ type: 'ack', position }));
    this.#identity?.save(position);
  }

  #append(message: Unnumbered): void {
    if (!this.#isStopped) this.#sender.append(message);
  }

  #appendTools(tools: readonly ToolSpec[], tabId: number | undefined): void {
    const tab = tabId === undefined ? {} : { tabId };
    this.#append({ type: 'toolsChanged', tools: [...tools], ...tab });
  }

  #lost(): void {
    this.#connection = undefined;
    this.#sender.detach();
    this.#acks.stop();
    this.#cancelReplayWait?.();
  }

  #setStatus(status: Status): void {
    this.#status = status;
    if (status.type === 'stopped') {
      this.#feed.close();
      this.#calls.close();
    }
    this.#tell(() => this.#options.onStatus?.(status));
  }

  #tell(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#settled.onError(error);
    }
  }
}

/** Returns what the owner says it can, with what the client itself can here, and not more. */
function offered(byOwner: readonly string[]): string[] {
  const others = byOwner.filter((name) => name !== DEFLATES);
  const own = canDeflate() ? [KEEPS_RESULTS, DEFLATES] : [KEEPS_RESULTS];
  return [...new Set([...others, ...own])];
}
