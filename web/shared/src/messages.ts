/**
 * Names for groups of protocol messages, and their way into text frames.
 *
 * The messages themselves are generated; here stands only what follows from them. Payloads
 * that are already JSON text are spliced in as they are, so that a large result or state is
 * written once and not parsed again.
 */

import type { FromBrowser, ToBrowser } from './generated/protocol';
import { stringify } from './json';

/** The message with this `type` that a browser sends. */
export type Sent<Type extends FromBrowser['type']> = Extract<FromBrowser, { type: Type }>;

/** The message with this `type` that the hub sends. */
export type Received<Type extends ToBrowser['type']> = Extract<ToBrowser, { type: Type }>;

/** A message that has a place in the sender's log. */
export type Numbered = Extract<FromBrowser, { sequence: number }>;

/** A numbered message before it got its number. */
export type Unnumbered = Numbered extends infer Message
  ? Message extends Numbered
    ? Omit<Message, 'sequence'>
    : never
  : never;

/** What the hub asks to be done; each has exactly one end. */
export type Call = Extract<ToBrowser, { deadlineMs: number }>;

/** A field whose value is JSON text already. */
export interface Raw<Field extends string = string> {
  readonly field: Field;
  readonly json: string;
}

/** Writes one message as a text frame. */
export function encode(message: FromBrowser): string {
  return stringify(message);
}

/** Writes one message whose payload is JSON text already; `head` is the rest of it. */
export function encodeWith<Message extends FromBrowser, Field extends string & keyof Message>(
  head: Omit<Message, Field> & { type: Message['type'] },
  raw: Raw<Field>,
): string {
  return splice(stringify(head), raw);
}

/** Adds a field to the text of an object that is not empty. */
export function splice(object: string, raw: Raw): string {
  return `${object.slice(0, -1)},${JSON.stringify(raw.field)}:${raw.json}}`;
}
