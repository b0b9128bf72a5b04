/**
 * Mutual proof: the hub shows that it knows our key, and only then do we.
 *
 * Proofs are HMAC-SHA-256 over what both sides have said; the first line says whose proof it is,
 * so that none can be sent back as the other's, and the second where we dialled, so that a program
 * at another address cannot pass them on to the hub and sit in between. Nothing secret travels.
 * Needs a secure context, as extensions and loopback pages are.
 */

import { fromBase64Url, toBase64Url } from './base64url';
import type { Challenge } from './generated/protocol';
import type { Sent } from './messages';

/** What a peer proves itself with. */
export interface Credentials {
  /** The 32 bytes that the hub has too; with `pairing` those that a code stands for. */
  readonly key: Uint8Array;
  /** The key is a code's, valid once: a lasting one is made of it. */
  readonly pairing?: boolean;
}

/** What follows from a challenge by a hub that has proven itself. */
export interface Proven {
  readonly proof: string;
  /** The key for all further connections, where this one pairs. */
  readonly lasting?: Uint8Array;
}

/** A page that the one who proves connects on its behalf. */
export interface Carriage {
  /** The instance whose key it is. */
  readonly carrier: string;
  /** Where the page comes from. */
  readonly origin: string;
}

/** What a proof is about. */
export interface ProvenPeer {
  readonly instanceId: string;
  /** The address that was dialled, such as `ws://127.0.0.1:8765`. */
  readonly dialled: string;
  readonly carried?: Carriage;
}

const NONCE_BYTES = 32;
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
/** Stands for this machine in proofs, whichever of its names was dialled. */
const LOOPBACK = 'loopback';
const USUAL_PORTS: Readonly<Record<string, string>> = { 'ws:': '80', 'wss:': '443' };

/** Returns host and port of an address as proofs have them: `loopback:8765`, `hub.example:443`. */
export function dialledAddress(url: string): string {
  const { protocol, hostname, port } = new URL(url.replace(/^http/i, 'ws'));
  // A machine that is really called so gets the dot of its full name, or it would pass for this one.
  const name = hostname === LOOPBACK ? `${LOOPBACK}.` : hostname;
  const host = LOOPBACK_HOSTS.includes(name) ? LOOPBACK : name;
  return `${host}:${port || USUAL_PORTS[protocol]}`;
}

/** One side of one conversation; not for a second one. */
export class Prover {
  /** What the hub's proof must be about. */
  readonly nonce = toBase64Url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  readonly pairing: boolean;
  /** Where we dialled, as the hub is told. */
  readonly address: string;
  readonly #key: Uint8Array<ArrayBuffer>;
  readonly #instanceId: string;
  readonly #carried: readonly string[];

  constructor({ key, pairing = false }: Credentials, { instanceId, dialled, carried }: ProvenPeer) {
    this.#key = new Uint8Array(key);
    this.pairing = pairing;
    this.address = dialledAddress(dialled);
    this.#instanceId = instanceId;
    this.#carried = carried === undefined ? [] : [carried.carrier, carried.origin];
  }

  /** Returns as little of an introduction as an unknown hub may know. */
  greeting({ type, instanceId, kind }: Sent<'hello'>): Sent<'hello'> {
    const { nonce, address, pairing } = this;
    return { type, instanceId, kind, nonce, address, ...(pairing && { pairing }) };
  }

  /** Checks the hub's proof and makes our own; nothing means that the hub's is wrong. */
  async answer({ nonce, proof }: Challenge): Promise<Proven | undefined> {
    const hmac = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', this.#key, hmac, false, ['sign', 'verify']);
    const theirs = fromBase64Url(proof);
    const isRight =
      theirs !== undefined &&
      (await crypto.subtle.verify('HMAC', key, theirs, this.#words('tabwire.v2 hub', nonce)));
    if (!isRight) return undefined;
    const sign = async (label: string) =>
      new Uint8Array(await crypto.subtle.sign('HMAC', key, this.#words(label, nonce)));
    const ours = toBase64Url(await sign('tabwire.v2 browser'));
    return this.pairing ? { proof: ours, lasting: await sign('tabwire.v2 key') } : { proof: ours };
  }

  #words(label: string, hubNonce: string): Uint8Array<ArrayBuffer> {
    const said = [this.#instanceId, this.nonce, hubNonce, ...this.#carried];
    const lines = [label, this.address, ...said];
    return new TextEncoder().encode(lines.join('\n'));
  }
}
