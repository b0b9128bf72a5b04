/**
 * The key that this browser and a hub have in common.
 *
 * It comes from the native messaging host, where there is one, and is then not kept: it is asked
 * for before each attempt. Else it comes of a code that `tabwire pair` shows and the user pastes;
 * of that only the lasting key is kept. The proofs are made in `@tabwire/shared`.
 */

import { fromBase64Url, toBase64Url } from '@tabwire/shared';
import { isPort, isRecord, isText } from '../check';
import { Kept } from '../storage';

const CODE_LENGTH = 16;
const KEY_LENGTH = 32;

/** Digits and letters without those that look like others. */
const ALPHABET = /^[0-9A-HJKMNP-TV-Z]*$/;

/** A key and where the hub that has it too was met. */
export interface KeptKey {
  readonly key: Uint8Array<ArrayBuffer>;
  readonly port: number;
}

/** Returns the 16 characters that were meant, or nothing if they cannot be a code. */
export function normaliseCode(text: string): string | undefined {
  const code = text
    .toUpperCase()
    .replace(/[\s\p{Pd}]/gu, '')
    .replaceAll(/[IL]/g, '1')
    .replaceAll('O', '0');
  return code.length === CODE_LENGTH && ALPHABET.test(code) ? code : undefined;
}

/** Makes the key with which both sides prove that they know the code. */
export async function codeKey(code: string): Promise<Uint8Array<ArrayBuffer>> {
  const text = new TextEncoder().encode(`tabwire.v1 code\n${code}`);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', text));
}

/** Reads a key as it is written, or nothing if it is none. */
export function readKey(text: unknown): Uint8Array<ArrayBuffer> | undefined {
  const bytes = isText(text) ? fromBase64Url(text) : undefined;
  return bytes?.length === KEY_LENGTH ? bytes : undefined;
}

interface Written {
  readonly key: string;
  readonly port: number;
}

const written = new Kept<Written>('local', 'key', isWritten);

export async function loadKey(): Promise<KeptKey | undefined> {
  const found = await written.load();
  const key = readKey(found?.key);
  return found === undefined || key === undefined ? undefined : { key, port: found.port };
}

export function saveKey({ key, port }: KeptKey): Promise<void> {
  return written.save({ key: toBase64Url(key), port });
}

export function forgetKey(): Promise<void> {
  return written.clear();
}

function isWritten(value: unknown): value is Written {
  return isRecord(value) && readKey(value.key) !== undefined && isPort(value.port);
}
