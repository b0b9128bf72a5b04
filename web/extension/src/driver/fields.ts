/**
 * Reads fields of what the debugger protocol sends, without believing its shape.
 */

import { isRecord } from '../command';

export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

/** Returns an object's fields; nothing for anything else. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : NONE;
}

export function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}

export function numberIn(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === 'number' ? value : undefined;
}

export function listIn(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  return Array.isArray(value) ? value : [];
}
