/**
 * The door: tells whether a frame is what its `type` says.
 *
 * Interprets the generated tables, so the protocol stands in one place. Unknown fields are
 * ignored, unknown types refused, opaque payloads let through. It does not judge whether a
 * message comes at the right moment.
 */

import type { Event, ToBrowser } from './generated/protocol';
import { toBrowserSchema } from './generated/protocol';
import { isRecord } from './values';

/** One direction's messages, as the generated file tells them. */
export interface Schema {
  /** From a message's `type` to the name of its body. */
  readonly messages: Readonly<Record<string, string>>;
  /** From a name to its fields, or to the words it may be. */
  readonly types: Readonly<Record<string, Readonly<Record<string, string>> | readonly string[]>>;
}

/** The hub broke the protocol; the connection is of no use any more. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** Reads one frame from the hub, or throws a `ProtocolError`. */
export function parseFrame(data: unknown): ToBrowser {
  if (typeof data !== 'string') throw new ProtocolError('a frame that is not text');
  const value = parseJson(data);
  const fault = findFault(toBrowserSchema, value);
  if (fault !== undefined) throw new ProtocolError(fault);
  return value as ToBrowser;
}

/** Reads the text of a compressed frame, which holds a page and nothing else. */
export function parsePage(text: string): ToBrowser {
  const message = parseFrame(text);
  if (message.type === 'replayPage') return message;
  throw new ProtocolError(`a binary frame with ${message.type}`);
}

/** Takes a message out of a replay page, or throws a `ProtocolError`. */
export function asEvent(value: unknown): Event {
  const fault = isRecord(value) && value.type === 'event' ? undefined : 'not an event';
  const deeper = fault ?? findFault(toBrowserSchema, value);
  if (deeper !== undefined) throw new ProtocolError(`in a replay page: ${deeper}`);
  return value as Event;
}

/** Returns what is wrong with a message, or nothing. */
export function findFault(schema: Schema, value: unknown): string | undefined {
  if (!isRecord(value)) return 'not an object';
  const type = value.type;
  if (typeof type !== 'string') return 'a message without a type';
  const body = Object.hasOwn(schema.messages, type) ? schema.messages[type] : undefined;
  if (body === undefined) return `unknown message type ${type.slice(0, 40)}`;
  return faultIn(schema, body, value, type);
}

function faultIn(schema: Schema, name: string, value: unknown, at: string): string | undefined {
  if (name.endsWith('[]')) return faultInList(schema, name.slice(0, -2), value, at);
  const type = schema.types[name];
  if (type === undefined) return isPrimitive(name, value) ? undefined : `${at} is not ${name}`;
  if (isWords(type))
    return type.some((word) => word === value) ? undefined : `${at} is not ${name}`;
  if (!isRecord(value)) return `${at} is not an object`;
  for (const [field, shape] of Object.entries(type)) {
    const fault = faultInField(schema, shape, value, field, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultInField(
  schema: Schema,
  shape: string,
  value: Record<string, unknown>,
  field: string,
  at: string,
): string | undefined {
  const optional = shape.endsWith('?');
  if (!Object.hasOwn(value, field)) return optional ? undefined : `${at}.${field} is missing`;
  return faultIn(schema, optional ? shape.slice(0, -1) : shape, value[field], `${at}.${field}`);
}

function faultInList(schema: Schema, item: string, value: unknown, at: string): string | undefined {
  if (!Array.isArray(value)) return `${at} is not a list`;
  for (const [index, element] of value.entries()) {
    const fault = faultIn(schema, item, element, `${at}[${index}]`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isPrimitive(name: string, value: unknown): boolean {
  if (name === 'any') return true;
  if (name === 'unsigned') return Number.isSafeInteger(value) && Number(value) >= 0;
  return typeof value === name;
}

// `Array.isArray` does not tell a readonly list from a record.
function isWords(
  type: Readonly<Record<string, string>> | readonly string[],
): type is readonly string[] {
  return Array.isArray(type);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProtocolError('a frame that is not JSON');
  }
}
