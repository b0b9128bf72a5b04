/**
 * The connection to the hub: finds it, proves to it who we are, and tells where things stand.
 *
 * The protocol is in `@tabwire/shared`; here is what only this browser knows: its name, where
 * keys come from, and what is remembered from one life of the worker to the next.
 */

import {
  type CallHandler,
  type Client,
  type Credentials,
  connect,
  type Event,
  type Level,
  type Memory,
  type Snapshot,
  type Status,
  type ToolSpec,
} from '@tabwire/shared';
import { isRecord, isText } from '../check';
import type { LinkState, Pairing, PairingState } from '../panel';
import { Kept } from '../storage';
import { type Candidate, type HubFinder, hubAddress, NothingFound } from './hub-finder';
import { codeKey, forgetKey, normaliseCode, saveKey } from './pairing';
import { KeptResults } from './results';
import type { Listener } from './tabs';

/** A hub that knows us. */
export interface Hub {
  readonly port: number;
  readonly key: Uint8Array<ArrayBuffer>;
}

export interface LinkParts {
  readonly instanceId: string;
  readonly version: string;
  readonly commands: readonly string[];
  readonly finder: HubFinder;
  /** What the session shall be called, as things stand now. */
  name(): string;
  /** A hub was found, and will be told all that is told until it is dialled. */
  found(): Promise<void>;
  onCall: CallHandler;
  onEvent(event: Event): void;
  /** All that the hub knows of this browser must be told anew. */
  onResync(): void;
  /** `state` or `pairing` is another. */
  changed(): void;
}

/** What this browser can beyond the minimum: show whose tabs are whose, ask pages for tools. */
const CAPABILITIES = ['tab_owners', 'discover_tools'];

/** A hub that wants us no more may be another by then, or we may. */
const BEGIN_ANEW_MS = 300_000;

const NOT_A_CODE = 'A code has 16 letters and digits, such as 7K3M-9QXT-2B4D-HW5N.';
const NO_HUB = 'No hub was found to pair with: run `tabwire pair` and try again.';
const WRONG_CODE = 'The hub does not know this code: run `tabwire pair` and try the new one.';
/** What the client says of a hub whose proof is wrong. */
const UNPROVEN = 'the hub could not prove itself';

export class HubLink implements Listener {
  readonly #parts: LinkParts;
  readonly #results = new KeptResults();
  #client: Client | undefined;
  #candidate: Candidate | undefined;
  /** The lasting key of a pairing that was just made; a code is no key for a second socket. */
  #lastingKey: Uint8Array<ArrayBuffer> | undefined;
  #port: number | undefined;
  #state: LinkState = { type: 'connecting' };
  #pairing: PairingState = { type: 'idle' };
  /** Why there was nothing to try. */
  #nothing: NothingFound | undefined;
  #endedAt = 0;
  /** How often a hub was looked for; only the last search counts. */
  #searches = 0;
  /** Why a hub did not take the pasted code. */
  #refusal: string | undefined;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  /** Begins to connect; before that nothing is told. */
  start(): void {
    this.#client ??= this.#connect();
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Where the hub is that has welcomed us, and the key that it knows us by. */
  get hub(): Hub | undefined {
    const candidate = this.#candidate;
    if (candidate === undefined || this.#state.type !== 'connected') return undefined;
    return { port: candidate.port, key: this.#lastingKey ?? candidate.key };
  }

  /** Where the hub is, or was, that has welcomed us last: its pages are not for clients. */
  get ports(): readonly number[] {
    return this.#port === undefined ? [] : [this.#port];
  }

  /** Where the hub may be that is told next what we tell now. */
  get nextPorts(): readonly number[] {
    if (this.#state.type === 'connected') return this.ports;
    return [...this.ports, ...this.#parts.finder.ports];
  }

  get pairing(): PairingState {
    return this.#pairing;
  }

  /** By what the hub knows us, or would. */
  async paired(hasKey: () => Promise<boolean>): Promise<Pairing> {
    if (this.#parts.finder.answer?.type === 'hub') return 'host';
    return (await hasKey()) ? 'code' : 'none';
  }

  emit(name: string, data?: unknown, level?: Level): void {
    this.#client?.sendEvent(name, data, level);
  }

  setTools(tools: readonly ToolSpec[], tabId: number): void {
    this.#client?.setTools(tools, tabId);
  }

  tabCreated(tab: Parameters<Client['tabCreated']>[0]): void {
    this.#client?.tabCreated(tab);
  }

  tabUpdated(tab: Parameters<Client['tabUpdated']>[0]): void {
    this.#client?.tabUpdated(tab);
  }

  tabClosed(tabId: number): void {
    this.#client?.tabClosed(tabId);
  }

  tabFocused(tabId: number): void {
    this.#client?.tabFocused(tabId);
  }

  tabsHidden(count: number): void {
    this.emit('tabsHidden', { count });
  }

  /** Tries now, if nothing is under way; a link that has ended begins anew. */
  retry(): void {
    if (this.#client?.status.type === 'stopped') this.#renew();
    else this.#client?.retryNow();
  }

  /** Tries again if it is time to; asked every now and then. */
  wake(): void {
    const isOver = this.#client?.status.type === 'stopped';
    if (!isOver) this.#client?.retryNow();
    else if (Date.now() - this.#endedAt >= BEGIN_ANEW_MS) this.#renew();
  }

  /** Ends the connection and begins anew, with what is now true of name, port and key. */
  restart(): void {
    this.#client?.close();
    this.#renew();
  }

  /** Pairs by a code that the user pasted; how it went, `pairing` and `state` say. */
  async pair(text: string): Promise<void> {
    const code = normaliseCode(text);
    if (code === undefined) {
      this.#setPairing({ type: 'failed', message: NOT_A_CODE });
      return;
    }
    this.#parts.finder.useCode(await codeKey(code));
    this.#setPairing({ type: 'trying' });
    this.retry();
  }

  async unpair(): Promise<void> {
    await forgetKey();
    this.#setPairing({ type: 'idle' });
    this.restart();
  }

  #renew(): void {
    this.#client = this.#connect();
    this.#parts.onResync();
  }

  #connect(): Client {
    const { instanceId, version, commands, name, onCall, onEvent, onResync } = this.#parts;
    return connect({
      kind: 'browser',
      instanceId,
      version,
      commands,
      capabilities: CAPABILITIES,
      memory,
      results: this.#results,
      name,
      url: () => this.#find(),
      credentials: async () => this.#credentials(),
      onPaired: (key) => this.#paired(key),
      onCall,
      onEvent,
      onResync,
      onStatus: (status) => this.#follow(status),
    });
  }

  async #find(): Promise<string> {
    this.#candidate = undefined;
    this.#lastingKey = undefined;
    this.#nothing = undefined;
    const search = ++this.#searches;
    try {
      const candidate = await this.#parts.finder.next();
      // A client that was closed while it searched must not say whom the next one talks to.
      if (search === this.#searches) this.#candidate = candidate;
      await this.#parts.found();
      return `ws://${hubAddress(candidate.port)}`;
    } catch (error) {
      if (error instanceof NothingFound && search === this.#searches) this.#nothing = error;
      throw error;
    }
  }

  #credentials(): Credentials | undefined {
    const candidate = this.#candidate;
    if (candidate === undefined) return undefined;
    return candidate.source === 'code'
      ? { key: candidate.key, pairing: true }
      : { key: candidate.key };
  }

  #paired(key: Uint8Array): void {
    const port = this.#candidate?.port;
    if (port === undefined) return;
    // A copy, because what is kept must be ours alone.
    this.#lastingKey = new Uint8Array(key);
    void saveKey({ key: this.#lastingKey, port }).then(() => this.#parts.changed());
  }

  #follow(status: Status): void {
    switch (status.type) {
      case 'connecting':
        // Between two attempts the reason of the last one says more.
        if (this.#state.type !== 'waiting' && this.#state.type !== 'unpaired') {
          this.#setState({ type: 'connecting' });
        }
        return;
      case 'connected':
        this.#connected(status.name);
        return;
      case 'waiting':
        this.#failed(status.reason);
        return;
      case 'stopped':
        this.#endedAt = Date.now();
        this.#setState({ type: 'ended', reason: status.reason });
        return;
      default:
        status satisfies never;
    }
  }

  #connected(name: string): void {
    const candidate = this.#candidate;
    this.#parts.finder.welcomed();
    this.#pairing = { type: 'idle' };
    this.#port = candidate?.port ?? this.#port;
    const address = candidate === undefined ? '' : hubAddress(candidate.port);
    this.#setState({ type: 'connected', name, address });
    if (candidate?.source === 'kept') void saveKey(candidate);
  }

  #failed(reason: string): void {
    const candidate = this.#candidate;
    if (candidate !== undefined && this.#state.type !== 'connected') {
      this.#parts.finder.failed(candidate);
    }
    if (this.#pairing.type === 'trying') this.#pairingFailed(candidate, reason);
    const type = this.#nothing?.unpaired === true ? 'unpaired' : 'waiting';
    const isStrange = reason === UNPROVEN && candidate !== undefined;
    this.#setState({ type, reason: isStrange ? stranger(candidate) : reason });
  }

  #pairingFailed(candidate: Candidate | undefined, reason: string): void {
    if (candidate?.source === 'code') this.#refusal = reason === UNPROVEN ? WRONG_CODE : reason;
    if (this.#parts.finder.hasCode) {
      // Later, because the client is still busy with telling its status.
      queueMicrotask(() => this.#client?.retryNow());
      return;
    }
    this.#pairing = { type: 'failed', message: this.#refusal ?? NO_HUB };
    this.#refusal = undefined;
  }

  #setState(state: LinkState): void {
    this.#state = state;
    this.#parts.changed();
  }

  #setPairing(pairing: PairingState): void {
    this.#pairing = pairing;
    this.#parts.changed();
  }
}

function stranger({ port }: Candidate): string {
  const who = `whoever is at ${hubAddress(port)}`;
  return `${who} does not know our key, or is an older hub; update it, or run \`tabwire pair\``;
}

const keptId = new Kept<string>('local', 'instanceId', isText);

/** Returns this browser profile's name for itself, the same for ever. */
export async function ownInstanceId(): Promise<string> {
  const found = await keptId.load();
  if (found !== undefined) return found;
  const made = crypto.randomUUID();
  await keptId.save(made);
  return made;
}

// Not in `local`: the key proves who we are, and a copied profile must not take over by a token.
const keptSnapshot = new Kept<Snapshot>('session', 'memory', isSnapshot);
const memory: Memory = {
  load: () => keptSnapshot.load(),
  save: (snapshot) => keptSnapshot.save(snapshot),
};

/** The client looks closer itself. */
function isSnapshot(value: unknown): value is Snapshot {
  return isRecord(value) && isText(value.instanceId);
}
