/**
 * Arguments of commands and tools: declared once, checked at the door, described as JSON Schema.
 *
 * What is missing, wrong or unknown is refused with what would be right; all faults of a call are
 * told at once, because each further attempt costs its reader a turn.
 */

import { isRecord } from '@tabwire/shared';
import type { Limits } from './math/angles';

/** An argument was wrong; the message says what is valid. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** Checks one argument and describes it. */
export interface Argument<T> {
  /** What is right, for messages: `a number above 0`. */
  readonly wants: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isOptional: boolean;
  /** Stands where nothing is given. */
  readonly fallback?: T;
  /** Returns the value, or nothing when it is wrong. */
  read(value: unknown): T | undefined;
}

export type Arguments = Readonly<Record<string, Argument<unknown>>>;

/** The values that a table of arguments gives. */
export type ValuesOf<A extends Arguments> = {
  readonly [K in keyof A]: A[K] extends Argument<infer T> ? T : never;
};

/** A number within limits. */
export function number(limits?: Limits): Argument<number> {
  const isRight = (value: number) =>
    limits === undefined || (value >= limits.min && value <= limits.max);
  return {
    wants: limits === undefined ? 'a number' : `a number from ${limits.min} to ${limits.max}`,
    schema: {
      type: 'number',
      ...(limits === undefined ? {} : { minimum: limits.min, maximum: limits.max }),
    },
    isOptional: false,
    read: (value) =>
      typeof value === 'number' && Number.isFinite(value) && isRight(value) ? value : undefined,
  };
}

/** A whole number within limits. */
export function integer(limits: Limits): Argument<number> {
  const inner = number(limits);
  return {
    ...inner,
    wants: `a whole number from ${limits.min} to ${limits.max}`,
    schema: { ...inner.schema, type: 'integer' },
    read: (value) => (Number.isInteger(value) ? inner.read(value) : undefined),
  };
}

/** A number above 0, without an upper limit: a step. */
export function step(): Argument<number> {
  return {
    wants: 'a number above 0',
    schema: { type: 'number', exclusiveMinimum: 0 },
    isOptional: false,
    read: (value) =>
      typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined,
  };
}

/** A colour, in small letters. */
export function colour(): Argument<string> {
  return {
    wants: 'a colour as #rrggbb',
    schema: { type: 'string', pattern: '^#[0-9a-fA-F]{6}$' },
    isOptional: false,
    read: (value) =>
      typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : undefined,
  };
}

/** A text of at most so many characters. */
export function text(maxLength: number): Argument<string> {
  return {
    wants: `a text of 1 to ${maxLength} characters`,
    schema: { type: 'string', minLength: 1, maxLength },
    isOptional: false,
    read: (value) =>
      typeof value === 'string' && value.length > 0 && value.length <= maxLength
        ? value
        : undefined,
  };
}

/** One of some words. */
export function choice<const T extends string>(choices: readonly T[]): Argument<T> {
  return {
    wants: `one of ${choices.join(', ')}`,
    schema: { type: 'string', enum: choices },
    isOptional: false,
    read: (value) => choices.find((one) => one === value),
  };
}

/** An argument that may be left out; then the fallback stands for it. */
export function optional<T>(inner: Argument<T>, fallback: T): Argument<T>;
export function optional<T>(inner: Argument<T>): Argument<T | undefined>;
export function optional<T>(inner: Argument<T>, fallback?: T): Argument<T | undefined> {
  const given = fallback === undefined ? {} : { fallback };
  return { ...inner, isOptional: true, ...given };
}

/** Returns the checked values, or throws an `ArgumentError` that names every fault. */
export function readArguments<A extends Arguments>(table: A, given: unknown): ValuesOf<A>;
export function readArguments(table: Arguments, given: unknown): Record<string, unknown> {
  if (!isRecord(given)) throw new ArgumentError('the arguments must be an object');
  const values: Record<string, unknown> = {};
  const faults = Object.keys(given).flatMap((name) =>
    Object.hasOwn(table, name) ? [] : [`there is no argument \`${name}\`; ${listNames(table)}`],
  );
  for (const [name, argument] of Object.entries(table)) {
    const value = given[name] ?? undefined;
    if (value === undefined) {
      if (!argument.isOptional) faults.push(`\`${name}\` is missing: it must be ${argument.wants}`);
      values[name] = argument.fallback;
      continue;
    }
    values[name] = argument.read(value);
    if (values[name] === undefined) {
      faults.push(`\`${name}\` must be ${argument.wants}, not ${show(value)}`);
    }
  }
  if (faults.length > 0) throw new ArgumentError(faults.join('; '));
  return values;
}

/** Returns the JSON Schema of a table. */
export function schemaOf(table: Arguments): Record<string, unknown> {
  const entries = Object.entries(table);
  const required = entries.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function listNames(table: Arguments): string {
  const names = Object.keys(table).map((name) => `\`${name}\``);
  return names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`;
}

function show(value: unknown): string {
  const written = JSON.stringify(value) ?? String(value);
  return written.length > 60 ? `${written.slice(0, 60)}…` : written;
}
