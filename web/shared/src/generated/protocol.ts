/**
 * The messages of `tabwire.v1`, generated from `crates/dialect/src/native/wire.rs`.
 *
 * Do not edit: `cargo xtask gen` writes this file. Types for both directions, and for each a
 * table that `check.ts` reads: `?` marks what may be absent, `[]` a list, `any` an opaque
 * payload. What the messages mean stands in `docs/protocol.md`.
 */

/** Everything up to here has been received and kept. */
export interface Ack {
  /** The newest message that is safe. */
  position: Position;
}

/** The sender ends the connection; the close frame follows. */
export interface Bye {
  /** Why, for branching: a code of the table of close codes. */
  code: string;
  /** Whether connecting again makes sense. */
  retry: boolean;
  /** Why, for reading. */
  message?: string;
}

/** An error, as the executor tells it. */
export interface CallError {
  /** For branching, such as `ELEMENT_NOT_FOUND`. */
  code: string;
  /** For reading: what failed, and what to try. */
  message: string;
}

/** What became of a call? */
export interface CallQuery {
  /** The id that the hub lost sight of. */
  callId: string;
}

/**
 * What an executor knows of a call.
 *
 * - `unknown`: Never received, or forgotten.
 * - `running`: Received and not finished; its end will be told.
 * - `ended`: Finished; `result` or `error` is the end.
 */
export type CallState = 'unknown' | 'running' | 'ended';

/** The answer to `callQuery`. */
export interface CallStatus {
  /** The id from `callQuery`. */
  callId: string;
  /** Whether it is unknown, running or ended. */
  state: CallState;
  /** The error, when it ended badly. */
  error?: CallError;
  /** The result, when it ended well. */
  result?: unknown;
}

/** Run a tool or command. */
export interface CallTool {
  /** The hub's id; the executor never runs the same id twice. */
  callId: string;
  /** Whether a command, the app's tool or a page's is meant. */
  target: Target;
  /** The tool's or command's name, as its declarer has it. */
  toolName: string;
  /** The arguments, as an object. */
  args: unknown;
  /** Remaining time; a call without any left is refused. */
  deadlineMs: number;
  /** The AI client on whose behalf it runs; absent where none is known. */
  client?: CallingClient;
  /** In which tab; absent for apps. */
  tabId?: number;
}

/** On whose behalf something is done. */
export interface CallingClient {
  /** The same for all calls of one client. */
  id: string;
  /** What people call it. */
  name: string;
}

/** Stop a call; it still ends with `toolResult`. */
export interface Cancel {
  /** The id from `callTool`. */
  callId: string;
}

/** The hub's proof, and what it wants proven: the answer to a `hello` with a `nonce`. */
export interface Challenge {
  /** Random, 32 bytes in base64url. */
  nonce: string;
  /** That the hub knows the key. */
  proof: string;
}

/** Close a tab; ends with `toolResult`. */
export interface CloseTab {
  /** The hub's id for this call. */
  callId: string;
  /** The browser's number for it. */
  tabId: number;
  /** Remaining time; a call without any left is refused. */
  deadlineMs: number;
}

/**
 * List the tools of the page in a tab; ends with `toolsDiscovered`, or with `toolResult`
 * and an error.
 */
export interface DiscoverTools {
  /** The hub's id for this call. */
  callId: string;
  /** Remaining time; a call without any left is refused. */
  deadlineMs: number;
  /** Which tab; absent: the app's own. */
  tabId?: number;
}

/** Something else that happened. Numbered. */
export interface Event {
  /** The number in the sender's log. */
  sequence: number;
  /** Such as `console`, `dialog`, `toolActivity`. */
  name: string;
  /** Any JSON that the name calls for. */
  data?: unknown;
  /** How bad it is. */
  level?: Level;
}

/** Bring a tab to the front; ends with `toolResult`. */
export interface FocusTab {
  /** The hub's id for this call. */
  callId: string;
  /** The browser's number for it. */
  tabId: number;
  /** Remaining time; a call without any left is refused. */
  deadlineMs: number;
}

/** The introduction, always the first message. */
export interface Hello {
  /** Its own name for itself. */
  instanceId: string;
  /** Whether it has tabs or is one page. */
  kind: Kind;
  /** Where it dialled, such as `loopback:8765`; the proofs are bound to it. */
  address?: string;
  /** What it can do beyond the minimum. */
  capabilities?: string[];
  /** The paired instance that connects this app on its behalf, and whose key the proofs need. */
  carrier?: string;
  /** The commands that a browser can do; empty means that it does not say. */
  commands?: string[];
  /** The log in which it numbers what it sends; absent where there is a `nonce`. */
  epoch?: string;
  /** What people call it. */
  name?: string;
  /** Asks the hub to prove itself first; all else then comes with `prove`. */
  nonce?: string;
  /** The web origin of a carried app, as its carrier attests it. */
  origin?: string;
  /** The proof is made with a pairing code, which becomes a key. */
  pairing?: boolean;
  /** How far it has seen the hub's log. */
  position?: Position;
  /** From the last `welcome`; valid once. */
  resumeToken?: string;
  /** Its version, for display. */
  version?: string;
}

/**
 * What kind of peer this is.
 *
 * - `browser`: A browser, with tabs and commands.
 * - `app`: One page with state and tools of its own.
 */
export type Kind = 'browser' | 'app';

/**
 * How bad an event is.
 *
 * - `info`: Worth knowing, and nothing to do.
 * - `warning`: Something is odd, and went on.
 * - `error`: Something failed; replay can bring these first.
 */
export type Level = 'info' | 'warning' | 'error';

/** Open a tab; ends with `toolResult`. */
export interface OpenTab {
  /** The hub's id for this call. */
  callId: string;
  /** The address to load. */
  url: string;
  /** Whether to bring it to the front. */
  focus: boolean;
  /** Remaining time; a call without any left is refused. */
  deadlineMs: number;
}

/** Asks for a `pong`; any message is a sign of life too. */
export type Ping = object;

/** The answer to `ping`. */
export type Pong = object;

/** A place in a log: everything up to `sequence` has been seen. */
export interface Position {
  /** The log that the number belongs to. */
  epoch: string;
  /** How far; 0 is before the first message. */
  sequence: number;
}

/** The rest of the introduction, for a hub that has proven itself. */
export interface Prove {
  /** That the peer knows the key. */
  proof: string;
  /** The log in which it numbers what it sends. */
  epoch: string;
  /** What it can do beyond the minimum. */
  capabilities?: string[];
  /** The commands that a browser can do; empty means that it does not say. */
  commands?: string[];
  /** What people call it. */
  name?: string;
  /** How far it has seen the hub's log. */
  position?: Position;
  /** From the last `welcome`; valid once. */
  resumeToken?: string;
  /** Its version, for display. */
  version?: string;
}

/**
 * Why a log cannot continue from a position.
 *
 * - `gap`: Messages in between were dropped because there were too many.
 * - `expired`: Messages in between were dropped because they were too old.
 * - `epoch_changed`: The position is in another log.
 * - `future_sequence`: The position is beyond the newest message.
 */
export type RefusedResume = 'gap' | 'expired' | 'epoch_changed' | 'future_sequence';

/** A page of what was missed. */
export interface ReplayPage {
  /** The sender's log, to which the numbers belong. */
  epoch: string;
  /** This page, with all before it, reaches up to this number. */
  upto: number;
  /** Whether the log continues from the position that was asked for. */
  recovered: boolean;
  /** Numbered messages, oldest first. */
  messages: unknown[];
  /** There are further pages. */
  more: boolean;
  /** A selection or another order: it does not move the receiver's position. */
  partial?: boolean;
  /** Why it does not; then there are no messages and a full sync is due. */
  reason?: RefusedResume;
}

/** Send again what follows a position. */
export interface ReplayRequest {
  /** The last place that was seen. */
  from: Position;
  /** Errors before the rest. */
  errorsFirst?: boolean;
  /** Only these message types or event names. */
  types?: string[];
}

/** Tell the current state. */
export interface RequestState {
  /** Comes back in the answer. */
  requestId: string;
  /** Look, do not answer from a cache. */
  forceRefresh: boolean;
}

/** The state could not be told. */
export interface StateError {
  /** The id from `requestState`. */
  requestId: string;
  /** Why not, for reading. */
  error: string;
}

/** The state that was asked for. */
export interface StateResponse {
  /** The id from `requestState`. */
  requestId: string;
  /** The whole state. */
  state: unknown;
  /** The page's life that counts the versions. */
  stateEpoch?: string;
  /** The version of the state; absent where versions are not counted. */
  version?: number;
}

/** A new state: `state` or `patch`. Numbered. */
export interface StateUpdate {
  /** The number in the sender's log. */
  sequence: number;
  /** The page's life that counts the versions. */
  stateEpoch: string;
  /** Grows by one with each update. */
  version: number;
  /** A JSON Patch (RFC 6902) against the version before. */
  patch?: unknown;
  /** The whole state; absent where there is a `patch`. */
  state?: unknown;
}

/** One tab of a browser. */
export interface Tab {
  /** The browser's number for it. */
  id: number;
  /** Whether it is in front. */
  active?: boolean;
  /** May be empty while loading. */
  title?: string;
  /** May be empty while loading. */
  url?: string;
}

/** A tab is gone. Numbered. */
export interface TabClosed {
  /** The number in the sender's log. */
  sequence: number;
  /** The browser's number for it. */
  tabId: number;
}

/** A tab exists now. Numbered. */
export interface TabCreated {
  /** The number in the sender's log. */
  sequence: number;
  /** The new tab. */
  tab: Tab;
}

/** A tab is in front now. Numbered. */
export interface TabFocused {
  /** The number in the sender's log. */
  sequence: number;
  /** The browser's number for it. */
  tabId: number;
}

/** A tab changed. Numbered. */
export interface TabUpdated {
  /** The number in the sender's log. */
  sequence: number;
  /** The tab as it is now. */
  tab: Tab;
}

/**
 * Whose tool is meant.
 *
 * - `command`: A command of the browser itself.
 * - `app`: A tool of the connected app.
 * - `page`: A tool that the page in a tab declares.
 */
export type Target = 'command' | 'app' | 'page';

/** What a tool says of itself; hints only, never trusted. */
export interface ToolAnnotations {
  /** Whether it changes nothing, by its own word. */
  readOnlyHint?: boolean;
}

/** How far a call is. */
export interface ToolProgress {
  /** The id from `callTool`. */
  callId: string;
  /** Grows with each report. */
  progress: number;
  /** What is being done. */
  message?: string;
  /** What it grows towards. */
  total?: number;
}

/** The end of a call: `result` or `error`. */
export interface ToolResult {
  /** The id from `callTool`, or from the tab command that has ended. */
  callId: string;
  /** Why it failed; absent where there is a result. */
  error?: CallError;
  /** What came out; `null` is a result too. */
  result?: unknown;
}

/** A tool that an app or a page declares. */
export interface ToolSpec {
  /** 1 to 128 of letters, digits, `_ . -`. */
  name: string;
  /** Hints about what it does. */
  annotations?: ToolAnnotations;
  /** What it does, in the declarer's words; may be empty. */
  description?: string;
  /** JSON Schema of its arguments; absent means no arguments are described. */
  inputSchema?: unknown;
  /** Of a tool in a frame of a page, the frame's origin; absent means the page itself. */
  origin?: string;
}

/** All tools of the app, or of the page in a tab, as they are now. Numbered. */
export interface ToolsChanged {
  /** The number in the sender's log. */
  sequence: number;
  /** The whole list, in place of the one before. */
  tools: ToolSpec[];
  /** Absent: the app's own. */
  tabId?: number;
}

/** The tools that were asked for. */
export interface ToolsDiscovered {
  /** The id from `discoverTools`. */
  callId: string;
  /** The whole list, in place of the one before. */
  tools: ToolSpec[];
  /** The tab of the page; absent: the app's own tools. */
  tabId?: number;
}

/** The hub's answer to `hello`. */
export interface Welcome {
  /** The session it has from now on. */
  sessionId: string;
  /** The session's readable name. */
  name: string;
  /** The hub's version, for display. */
  serverVersion: string;
  /** The hub asks after this much silence. */
  heartbeatMs: number;
  /** The hub's log for this session. */
  epoch: string;
  /** The newest number in it. */
  currentSequence: number;
  /** How far the hub has seen the peer's log; what follows must be sent again. */
  received: Position;
  /** Whether the log continues from `hello.position`. */
  recovered: boolean;
  /** The first page of what was missed, oldest first. */
  replay: Event[];
  /** Further pages must be asked for. */
  more: boolean;
  /** To be presented at the next hello. */
  resumeToken: string;
  /** Why it does not. */
  reason?: RefusedResume;
}

/** What a browser or app sends. */
export type FromBrowser =
  | ({ type: 'hello' } & Hello)
  | ({ type: 'prove' } & Prove)
  | ({ type: 'toolResult' } & ToolResult)
  | ({ type: 'toolProgress' } & ToolProgress)
  | ({ type: 'callStatus' } & CallStatus)
  | ({ type: 'stateResponse' } & StateResponse)
  | ({ type: 'stateError' } & StateError)
  | ({ type: 'stateUpdate' } & StateUpdate)
  | ({ type: 'tabCreated' } & TabCreated)
  | ({ type: 'tabUpdated' } & TabUpdated)
  | ({ type: 'tabClosed' } & TabClosed)
  | ({ type: 'tabFocused' } & TabFocused)
  | ({ type: 'toolsChanged' } & ToolsChanged)
  | ({ type: 'toolsDiscovered' } & ToolsDiscovered)
  | ({ type: 'event' } & Event)
  | ({ type: 'replayRequest' } & ReplayRequest)
  | ({ type: 'replayPage' } & ReplayPage)
  | ({ type: 'ping' } & Ping)
  | ({ type: 'pong' } & Pong)
  | ({ type: 'ack' } & Ack)
  | ({ type: 'bye' } & Bye);

/** What the hub sends. */
export type ToBrowser =
  | ({ type: 'challenge' } & Challenge)
  | ({ type: 'welcome' } & Welcome)
  | ({ type: 'callTool' } & CallTool)
  | ({ type: 'cancel' } & Cancel)
  | ({ type: 'callQuery' } & CallQuery)
  | ({ type: 'requestState' } & RequestState)
  | ({ type: 'openTab' } & OpenTab)
  | ({ type: 'closeTab' } & CloseTab)
  | ({ type: 'focusTab' } & FocusTab)
  | ({ type: 'discoverTools' } & DiscoverTools)
  | ({ type: 'event' } & Event)
  | ({ type: 'replayRequest' } & ReplayRequest)
  | ({ type: 'replayPage' } & ReplayPage)
  | ({ type: 'ping' } & Ping)
  | ({ type: 'pong' } & Pong)
  | ({ type: 'ack' } & Ack)
  | ({ type: 'bye' } & Bye);

/** What `check.ts` must know of `fromBrowser`. */
export const fromBrowserSchema = {
  messages: {
    hello: 'Hello',
    prove: 'Prove',
    toolResult: 'ToolResult',
    toolProgress: 'ToolProgress',
    callStatus: 'CallStatus',
    stateResponse: 'StateResponse',
    stateError: 'StateError',
    stateUpdate: 'StateUpdate',
    tabCreated: 'TabCreated',
    tabUpdated: 'TabUpdated',
    tabClosed: 'TabClosed',
    tabFocused: 'TabFocused',
    toolsChanged: 'ToolsChanged',
    toolsDiscovered: 'ToolsDiscovered',
    event: 'Event',
    replayRequest: 'ReplayRequest',
    replayPage: 'ReplayPage',
    ping: 'Ping',
    pong: 'Pong',
    ack: 'Ack',
    bye: 'Bye',
  },
  types: {
    Ack: { position: 'Position' },
    Bye: { code: 'string', retry: 'boolean', message: 'string?' },
    CallError: { code: 'string', message: 'string' },
    CallState: ['unknown', 'running', 'ended'],
    CallStatus: { callId: 'string', state: 'CallState', error: 'CallError?', result: 'any?' },
    Event: { sequence: 'unsigned', name: 'string', data: 'any?', level: 'Level?' },
    Hello: {
      instanceId: 'string',
      kind: 'Kind',
      address: 'string?',
      capabilities: 'string[]?',
      carrier: 'string?',
      commands: 'string[]?',
      epoch: 'string?',
      name: 'string?',
      nonce: 'string?',
      origin: 'string?',
      pairing: 'boolean?',
      position: 'Position?',
      resumeToken: 'string?',
      version: 'string?',
    },
    Kind: ['browser', 'app'],
    Level: ['info', 'warning', 'error'],
    Ping: {},
    Pong: {},
    Position: { epoch: 'string', sequence: 'unsigned' },
    Prove: {
      proof: 'string',
      epoch: 'string',
      capabilities: 'string[]?',
      commands: 'string[]?',
      name: 'string?',
      position: 'Position?',
      resumeToken: 'string?',
      version: 'string?',
    },
    RefusedResume: ['gap', 'expired', 'epoch_changed', 'future_sequence'],
    ReplayPage: {
      epoch: 'string',
      upto: 'unsigned',
      recovered: 'boolean',
      messages: 'any[]',
      more: 'boolean',
      partial: 'boolean?',
      reason: 'RefusedResume?',
    },
    ReplayRequest: { from: 'Position', errorsFirst: 'boolean?', types: 'string[]?' },
    StateError: { requestId: 'string', error: 'string' },
    StateResponse: {
      requestId: 'string',
      state: 'any',
      stateEpoch: 'string?',
      version: 'unsigned?',
    },
    StateUpdate: {
      sequence: 'unsigned',
      stateEpoch: 'string',
      version: 'unsigned',
      patch: 'any?',
      state: 'any?',
    },
    Tab: { id: 'unsigned', active: 'boolean?', title: 'string?', url: 'string?' },
    TabClosed: { sequence: 'unsigned', tabId: 'unsigned' },
    TabCreated: { sequence: 'unsigned', tab: 'Tab' },
    TabFocused: { sequence: 'unsigned', tabId: 'unsigned' },
    TabUpdated: { sequence: 'unsigned', tab: 'Tab' },
    ToolAnnotations: { readOnlyHint: 'boolean?' },
    ToolProgress: { callId: 'string', progress: 'number', message: 'string?', total: 'number?' },
    ToolResult: { callId: 'string', error: 'CallError?', result: 'any?' },
    ToolSpec: {
      name: 'string',
      annotations: 'ToolAnnotations?',
      description: 'string?',
      inputSchema: 'any?',
      origin: 'string?',
    },
    ToolsChanged: { sequence: 'unsigned', tools: 'ToolSpec[]', tabId: 'unsigned?' },
    ToolsDiscovered: { callId: 'string', tools: 'ToolSpec[]', tabId: 'unsigned?' },
  },
} as const;

/** What `check.ts` must know of `toBrowser`. */
export const toBrowserSchema = {
  messages: {
    challenge: 'Challenge',
    welcome: 'Welcome',
    callTool: 'CallTool',
    cancel: 'Cancel',
    callQuery: 'CallQuery',
    requestState: 'RequestState',
    openTab: 'OpenTab',
    closeTab: 'CloseTab',
    focusTab: 'FocusTab',
    discoverTools: 'DiscoverTools',
    event: 'Event',
    replayRequest: 'ReplayRequest',
    replayPage: 'ReplayPage',
    ping: 'Ping',
    pong: 'Pong',
    ack: 'Ack',
    bye: 'Bye',
  },
  types: {
    Ack: { position: 'Position' },
    Bye: { code: 'string', retry: 'boolean', message: 'string?' },
    CallQuery: { callId: 'string' },
    CallTool: {
      callId: 'string',
      target: 'Target',
      toolName: 'string',
      args: 'any',
      deadlineMs: 'unsigned',
      client: 'CallingClient?',
      tabId: 'unsigned?',
    },
    CallingClient: { id: 'string', name: 'string' },
    Cancel: { callId: 'string' },
    Challenge: { nonce: 'string', proof: 'string' },
    CloseTab: { callId: 'string', tabId: 'unsigned', deadlineMs: 'unsigned' },
    DiscoverTools: { callId: 'string', deadlineMs: 'unsigned', tabId: 'unsigned?' },
    Event: { sequence: 'unsigned', name: 'string', data: 'any?', level: 'Level?' },
    FocusTab: { callId: 'string', tabId: 'unsigned', deadlineMs: 'unsigned' },
    Level: ['info', 'warning', 'error'],
    OpenTab: { callId: 'string', url: 'string', focus: 'boolean', deadlineMs: 'unsigned' },
    Ping: {},
    Pong: {},
    Position: { epoch: 'string', sequence: 'unsigned' },
    RefusedResume: ['gap', 'expired', 'epoch_changed', 'future_sequence'],
    ReplayPage: {
      epoch: 'string',
      upto: 'unsigned',
      recovered: 'boolean',
      messages: 'any[]',
      more: 'boolean',
      partial: 'boolean?',
      reason: 'RefusedResume?',
    },
    ReplayRequest: { from: 'Position', errorsFirst: 'boolean?', types: 'string[]?' },
    RequestState: { requestId: 'string', forceRefresh: 'boolean' },
    Target: ['command', 'app', 'page'],
    Welcome: {
      sessionId: 'string',
      name: 'string',
      serverVersion: 'string',
      heartbeatMs: 'unsigned',
      epoch: 'string',
      currentSequence: 'unsigned',
      received: 'Position',
      recovered: 'boolean',
      replay: 'Event[]',
      more: 'boolean',
      resumeToken: 'string',
      reason: 'RefusedResume?',
    },
  },
} as const;
