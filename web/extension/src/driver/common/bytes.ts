/**
 * Bytes on their way to the hub, as base64, and how much of them a message can carry.
 */

import { CommandError } from '../../command';

/** A file in an answer. */
export interface File {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  readonly name: string;
}

// One call takes so many arguments at most.
const AT_ONCE = 32_768;

/** Returns the UTF-8 bytes of a text as base64. */
export function encodeText(text: string): string {
  return encodeBytes(new TextEncoder().encode(text));
}

export function encodeBytes(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let from = 0; from < bytes.length; from += AT_ONCE) {
    parts.push(String.fromCharCode(...bytes.subarray(from, from + AT_ONCE)));
  }
  return btoa(parts.join(''));
}

export function decodeBytes(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/** Returns a file name made of a title. */
export function fileName(title: string, ending: string): string {
  const stem = title
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return `${stem === '' ? 'page' : stem}.${ending}`;
}

/** Makes the error of what is too large to be sent. */
export function tooLarge(what: string, mostBytes: number, advice: string): CommandError {
  const mebibytes = Math.round(mostBytes / 1_048_576);
  return new CommandError('TOO_LARGE', `${what} has more than ${mebibytes} MiB; ${advice}`);
}
