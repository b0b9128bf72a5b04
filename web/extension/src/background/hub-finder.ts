/**
 * Decides which hub to try next, and with which key.
 *
 * A code that the user has just pasted comes first, at every port in turn and once. Then the
 * native host, which knows. Then a kept key: at the port the user set, where the hub was last,
 * and at the usual ports, one attempt each, round and round. A port counts only if somebody
 * listens there; whether it is the right one, the proof decides and not this file.
 */

import type { HostAnswer } from './native-host';
import type { KeptKey } from './pairing';

export interface Candidate {
  readonly source: 'code' | 'host' | 'kept';
  readonly port: number;
  readonly key: Uint8Array<ArrayBuffer>;
}

export interface FinderParts {
  askHost(): Promise<HostAnswer>;
  keptKey(): Promise<KeptKey | undefined>;
  /** The port the user set. */
  wantedPort(): number | undefined;
  listens(port: number): Promise<boolean>;
}

/** There is nothing to try. */
export class NothingFound extends Error {
  override readonly name = 'NothingFound';
  /** Whether a key is missing, as opposed to a hub. */
  readonly unpaired: boolean;

  constructor(message: string, unpaired: boolean) {
    super(message);
    this.unpaired = unpaired;
  }
}

/** Where hubs are when nobody says otherwise. */
export const USUAL_PORTS: readonly number[] = Array.from({ length: 11 }, (_, n) => 8765 + n);

const NOBODY = 'no hub answers; it starts with the first AI client, or with `tabwire serve`';
const NO_KEY = 'run `tabwire install` once in a terminal, or pair with a code';

export class HubFinder {
  readonly #parts: FinderParts;
  #code: { readonly key: Uint8Array<ArrayBuffer>; readonly tried: Set<number> } | undefined;
  /** The kept key's port that was tried last. */
  #lastPort: number | undefined;
  #hostFailed = false;
  #triedPorts: readonly number[] = [];
  /** What the native host said last. */
  #answer: HostAnswer | undefined;

  constructor(parts: FinderParts) {
    this.#parts = parts;
  }

  get answer(): HostAnswer | undefined {
    return this.#answer;
  }

  /** All ports at which the hub may be, as things stood at the last search. */
  get ports(): readonly number[] {
    return this.#triedPorts;
  }

  /** Whether a pasted code has ports left to be tried at. */
  get hasCode(): boolean {
    return this.#code !== undefined;
  }

  /** Tries a pasted code before all else. */
  useCode(key: Uint8Array<ArrayBuffer>): void {
    this.#code = { key, tried: new Set() };
  }

  /** Returns what to try next, or throws `NothingFound`. */
  async next(): Promise<Candidate> {
    const kept = await this.#parts.keptKey();
    const found =
      (await this.#byCode(kept)) ?? (await this.#byHost(kept)) ?? (await this.#byKept(kept));
    this.#triedPorts = this.#ports(kept);
    return found ?? this.#nothing(kept);
  }

  /** Notes that a candidate did not take us. */
  failed({ source }: Candidate): void {
    this.#hostFailed = source === 'host';
  }

  /** Notes that a candidate took us: the next search begins anew. */
  welcomed(): void {
    this.#code = undefined;
    this.#lastPort = undefined;
    this.#hostFailed = false;
  }

  async #byCode(kept: KeptKey | undefined): Promise<Candidate | undefined> {
    const code = this.#code;
    if (code === undefined) return undefined;
    // The host may know of a hub at an unusual port.
    await this.#ask();
    for (const port of this.#ports(kept)) {
      if (code.tried.has(port)) continue;
      code.tried.add(port);
      if (await this.#parts.listens(port)) return { source: 'code', port, key: code.key };
    }
    this.#code = undefined;
    return undefined;
  }

  async #byHost(kept: KeptKey | undefined): Promise<Candidate | undefined> {
    const answer = await this.#ask();
    if (answer.type !== 'hub' || !answer.running) return undefined;
    // Its key was not taken: a kept one may be, and next time it is the host's turn again.
    if (this.#hostFailed && kept !== undefined) {
      this.#hostFailed = false;
      return undefined;
    }
    return { source: 'host', port: answer.port, key: answer.key };
  }

  async #byKept(kept: KeptKey | undefined): Promise<Candidate | undefined> {
    if (kept === undefined) return undefined;
    const ports = this.#ports(kept);
    const start = this.#lastPort === undefined ? 0 : ports.indexOf(this.#lastPort) + 1;
    for (const port of [...ports.slice(start), ...ports.slice(0, start)]) {
      if (!(await this.#parts.listens(port))) continue;
      this.#lastPort = port;
      return { source: 'kept', port, key: kept.key };
    }
    return undefined;
  }

  #nothing(kept: KeptKey | undefined): never {
    const answer = this.#answer;
    if (answer?.type === 'hub' || kept !== undefined) throw new NothingFound(NOBODY, false);
    if (answer?.type === 'refused') throw new NothingFound(answer.message, true);
    throw new NothingFound(NO_KEY, true);
  }

  async #ask(): Promise<HostAnswer> {
    this.#answer = await this.#parts.askHost();
    return this.#answer;
  }

  #ports(kept: KeptKey | undefined): number[] {
    const told = this.#answer?.type === 'hub' ? this.#answer.port : undefined;
    const first = [this.#parts.wantedPort(), kept?.port, told];
    const known = first.filter((port) => port !== undefined);
    return [...new Set([...known, ...USUAL_PORTS])];
  }
}

/** Returns where the hub of a port is dialled: by number, for `localhost` may be anybody's. */
export function hubAddress(port: number): string {
  return `127.0.0.1:${port}`;
}

/** Tells whether anything answers at a port; who it is, it does not ask. */
export async function listens(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(1_000);
    await fetch(`http://${hubAddress(port)}/health`, {
      mode: 'no-cors',
      cache: 'no-store',
      credentials: 'omit',
      signal,
    });
    return true;
  } catch {
    return false;
  }
}
