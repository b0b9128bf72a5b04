/**
 * Checks arguments against the schema of a tool, as far as models get them wrong.
 *
 * Knows `type`, `properties`, `required`, `additionalProperties: false`, `enum`, `minimum`,
 * `maximum`, `pattern` and `items`; other keywords are let through. The words are for a model: which
 * argument, and what is valid. It changes nothing and fills in no defaults.
 */

import { isRecord } from '@tabwire/shared';
import type { Schema } from './options';

/** Returns what is wrong with a value, or nothing; `at` is its name, empty for all arguments. */
export function findFault(schema: Schema, value: unknown, at = ''): string | undefined {
  const name = at === '' ? 'the arguments' : at;
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type;
  if (types !== undefined && !types.some((type) => isOf(type, value))) {
    return `${name} must be ${types.join(' or ')}, not ${show(value)}`;
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return `${name} must be one of ${schema.enum.map(show).join(', ')}, not ${show(value)}`;
  }
  if (typeof value === 'number') return faultInNumber(schema, value, name);
  if (typeof value === 'string') return faultInText(schema, value, name);
  return typeof value === 'object' && value !== null ? faultInside(schema, value, at) : undefined;
}

function faultInNumber({ minimum, maximum }: Schema, value: number, name: string) {
  const isSmall = minimum !== undefined && value < minimum;
  if (!isSmall && (maximum === undefined || value <= maximum)) return undefined;
  const limit = isSmall ? `at least ${minimum}` : `at most ${maximum}`;
  return `${name} must be ${limit}, not ${value}`;
}

function faultInText({ pattern }: Schema, value: string, name: string): string | undefined {
  if (pattern === undefined || new RegExp(pattern, 'u').test(value)) return undefined;
  return `${name} must match ${pattern}, not ${show(value)}`;
}

/** Looks into an object, or into a list, whose keys are its indexes. */
function faultInside(schema: Schema, value: object, at: string): string | undefined {
  const { properties = {}, required = [], additionalProperties, items } = schema;
  const isList = Array.isArray(value);
  const inside = (key: string) => (isList ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`);
  const missing = required.find((key) => !isList && !Object.hasOwn(value, key));
  if (missing !== undefined) return `${inside(missing)} is missing`;
  for (const [key, item] of Object.entries(value)) {
    const known = isList ? items : Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (known !== undefined) {
      const fault = findFault(known, item, inside(key));
      if (fault !== undefined) return fault;
    } else if (!isList && additionalProperties === false) {
      const valid = Object.keys(properties).join(', ') || 'none';
      return `${inside(key)} is not known; valid are ${valid}`;
    }
  }
  return undefined;
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      // `string`, `number` and `boolean` are left.
      return typeof value === type;
  }
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
