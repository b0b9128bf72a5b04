/**
 * What a peer tells `connect`, and the values that stand where it says nothing.
 *
 * All callbacks may throw: that is reported to `onError` and changes nothing else.
 */

import type { CallHandler } from './calls';
import { type Clock, systemClock } from './clock';
import type { HubUrl, Status } from './connector';
import type { Event, Kind, RefusedResume } from './generated/protocol';
import type { Memory } from './memory';
import type { Credentials } from './proof';
import { DEFAULT_RECONNECT_LIMITS, type ReconnectLimits } from './reconnect';
import { memoryResults, type ResultStore } from './result-store';
import { DEFAULT_LOG_LIMITS, type LogLimits } from './send-log';
import { isInstanceId, type SocketConstructor, subprotocols } from './socket';
import type { StateHandler } from './state-feed';
import { variableToken } from './variable-token';

export interface ClientOptions {
  /** The hub, such as `ws://127.0.0.1:8765`, or what finds it before each attempt. */
  readonly url: HubUrl;
  readonly kind: Kind;
  /** What people call it, or what finds that at each introduction; the hub makes the session's
   * name of it. */
  readonly name?: string | (() => string | undefined);
  /** Its version, for display. */
  readonly version?: string;
  /** What it can do beyond the minimum. */
  readonly capabilities?: readonly string[];
  /** The commands that a browser can do; without them it is taken to do all. */
  readonly commands?: readonly string[];
  /** Its name for itself; else the remembered one, else a random one. */
  readonly instanceId?: string;
  /** What `tabwire token` prints, for programs that are no web pages; else `TABWIRE_TOKEN`. */
  readonly token?: string;

  /**
   * Finds what the peer proves itself with, before each attempt and after `url`. With it, the hub
   * has to prove itself first, and hears nothing but the instance id before; nothing means a
   * plain `hello`.
   */
  readonly credentials?: () => Promise<Credentials | undefined>;
  /** Takes the lasting key after a pairing by code: to be kept, the code is used up. */
  readonly onPaired?: (key: Uint8Array) => void;

  /** Does what the hub asks for. */
  readonly onCall?: CallHandler;
  /** Tells the state; without it the state that was pushed last is told. */
  readonly onState?: StateHandler;
  /** Takes the hub's events, in order, each once. */
  readonly onEvent?: (event: Event) => void;
  /** Something is lost: tabs must be told anew. Tools are sent again without help. */
  readonly onResync?: (reason: RefusedResume) => void;
  readonly onStatus?: (status: Status) => void;
  /** Takes what went wrong in callbacks and stores; else it goes to the console. */
  readonly onError?: (error: unknown) => void;

  /** Where ends of calls are kept; else in memory. */
  readonly results?: ResultStore;
  /** Where the peer remembers who it is; else nowhere. */
  readonly memory?: Memory;
  /** How much of what was not acked is kept. */
  readonly log?: Partial<LogLimits>;
  /** When to come back. */
  readonly reconnect?: Partial<ReconnectLimits>;
  /** Makes sockets; else `globalThis.WebSocket`. */
  readonly webSocket?: SocketConstructor;
  readonly clock?: Clock;
  /** Returns numbers from 0 to below 1; else `Math.random`. */
  readonly random?: () => number;
}

/** Options with nothing left open. */
export interface Settled {
  readonly protocols: string[];
  readonly results: ResultStore;
  readonly log: LogLimits;
  readonly reconnect: ReconnectLimits;
  readonly webSocket: SocketConstructor;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
}

/** Fills in what was not said; throws if the client could never work. */
export function settle(options: ClientOptions): Settled {
  const webSocket = options.webSocket ?? globalThis.WebSocket;
  if (webSocket === undefined) throw new TypeError('no WebSocket here');
  if (options.instanceId !== undefined && !isInstanceId(options.instanceId)) {
    throw new TypeError('an instanceId is 1 to 128 letters, digits and . _ : @ -');
  }
  return {
    protocols: subprotocols(options.token ?? variableToken()),
    results: options.results ?? memoryResults(),
    log: { ...DEFAULT_LOG_LIMITS, ...options.log },
    reconnect: { ...DEFAULT_RECONNECT_LIMITS, ...options.reconnect },
    webSocket,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    onError: options.onError ?? ((error) => console.error('tabwire:', error)),
  };
}
