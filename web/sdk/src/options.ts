/**
 * The public types: what an app tells `connect`, and what it gets back.
 *
 * Nothing here is imported, so that this file can be read, and shipped, alone.
 */

/** Something that can be read and that tells when it changes. */
export interface Store<T> {
  get(): T;
  /** Calls back after each change; returns the function that ends that. */
  subscribe(changed: () => void): () => void;
}

/** A JSON Schema, as far as it concerns arguments. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly [keyword: string]: unknown;
}

/** What a tool has besides its arguments. */
export interface RunContext {
  /** Aborted when the client withdraws the call, when its time is over and on `close`. */
  readonly signal: AbortSignal;
  /** Tells how far it is; numbers grow. */
  progress(progress: number, total?: number, message?: string): void;
}

/** Arguments of a tool, checked against its schema. */
export type Args = Record<string, unknown>;

/** Something that an AI client can do in the app. */
export interface Tool {
  /** 1 to 128 of letters, digits and `_ - .`. */
  readonly name: string;
  /** What it does, in a line; clients read nothing else. */
  readonly description: string;
  /** Its arguments; without one it takes none that matter. */
  readonly inputSchema?: Schema;
  /** Whether it changes nothing; such a call may be repeated. */
  readonly readOnly?: boolean;
  /** Does it; what it returns is the result, what it throws the error. */
  run(args: Args, context: RunContext): unknown;
}

/** Something that a manifest in the hub makes tools of; it is not listed. */
export type Command = (args: Args, context: RunContext) => unknown;

/** Takes an event from the hub. */
export type EventListener = (data: unknown, name: string) => void;

/** What an app tells `connect`. */
export interface Options {
  /** The wished name of the session; the hub adds a number if it is taken. */
  readonly name: string;
  /** The app's version, for display. */
  readonly version?: string;
  /** What the app is like: a function that is read on `changed()`, or a store. */
  readonly state?: (() => unknown) | Store<unknown>;
  readonly tools?: readonly Tool[];
  readonly commands?: Readonly<Record<string, Command>>;
  /** Which of the hub's manifests describes this app. */
  readonly manifest?: string;
  /** Takes events from the hub by their names; `*` takes all. */
  readonly events?: Readonly<Record<string, EventListener>>;
  /** The hub's address; else that of the hub that serves the page, else `http://127.0.0.1:8765`. */
  readonly hub?: string | undefined;
  /** What `tabwire token` prints, for a page that reaches the hub from elsewhere. */
  readonly token?: string;
  /** The page's name for itself; else one that outlives a reload. */
  readonly instanceId?: string;
  onStatus?(status: Status): void;
  /** Takes what went wrong in callbacks and in telling the state; else the console does. */
  onError?(error: unknown): void;
}

/** Why there is no connection. */
export type Reason =
  | 'hub_not_running'
  | 'local_network_refused'
  | 'origin_not_allowed'
  | 'not_allowed_yet'
  | 'page_policy'
  | 'taken'
  | 'lost'
  | 'refused';

/** Where the link stands. */
export interface Status {
  /** `waiting`: it comes by itself. `refused`: somebody has to do something. */
  readonly type: 'connecting' | 'connected' | 'waiting' | 'refused' | 'closed';
  /** The session's name, once connected. */
  readonly session?: string;
  /** Why there is no connection; while connecting, why the last attempt failed. */
  readonly reason?: Reason;
  /** The same in plain words, for the page to show. */
  readonly message?: string;
  /** When the next attempt is; none means that there is none. */
  readonly retryInMs?: number;
}

/** A page's presence in the hub. */
export interface Link {
  readonly status: Status;
  /** Says that the state function would answer differently now; cheap, call it freely. */
  changed(): void;
  /** Tells the hub that something happened; throws if `data` is not JSON or is too large. */
  emit(name: string, data?: unknown): void;
  /** Replaces the tools. */
  setTools(tools: readonly Tool[]): void;
  /** Leaves the hub for good. */
  close(): void;
}
