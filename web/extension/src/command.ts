/**
 * What a browser command is, and how its arguments are read.
 *
 * Arguments are flat and checked at the door: an unknown or wrong one is refused by name, with
 * what would be right. Commands throw `CommandError`; its code and message reach the client. It
 * knows no command: what each takes is in `commands/contracts.ts`.
 */

import { isRecord } from './check';
import type { Caller, Page } from './driver/page/page';

/** What a client can branch on. */
export type ErrorCode =
  | 'DEAD_REFERENCE'
  | 'DEBUGGER_REFUSED'
  | 'DIALOG_OPEN'
  | 'DOWNLOAD_FAILED'
  | 'DOWNLOAD_NOT_FOUND'
  | 'ELEMENT_COVERED'
  | 'ELEMENT_DISABLED'
  | 'ELEMENT_HIDDEN'
  | 'ELEMENT_NOT_FOUND'
  | 'EMULATION_FAILED'
  | 'EVALUATION_FAILED'
  | 'INVALID_ARGUMENT'
  | 'INVALID_SELECTOR'
  | 'NAVIGATION_FAILED'
  | 'NO_DIALOG'
  | 'PAGE_TOOL_FAILED'
  | 'PAGE_TOOL_NOT_FOUND'
  | 'NO_TRACE'
  | 'NO_SUCH_REQUEST'
  | 'PAGE_UNRESPONSIVE'
  | 'PRINTING_FAILED'
  | 'READ_ONLY'
  | 'RESTRICTED_PAGE'
  | 'SCREENSHOT_FAILED'
  | 'SITE_NOT_ALLOWED'
  | 'STOPPED_BY_USER'
  | 'TAB_NOT_FOUND'
  | 'TIMEOUT'
  | 'TOO_LARGE'
  | 'TRACE_FAILED'
  | 'TRACE_RUNNING'
  | 'UPLOAD_INCOMPLETE'
  | 'WRONG_ELEMENT'
  | 'unknown_tool';

/** Why a command failed: what happened, and what to try next. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * `read` looks, `act` changes what is there, `add` makes something new or answers a dialog; the
 * hub queues acts per tab and lets the others pass.
 */
export type Effect = 'act' | 'add' | 'read';

/** A result that is JSON text already and need not be parsed to be sent. */
export class RawJson {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  /** For a sender that does not know this class: right, but written twice. */
  toJSON(): unknown {
    return JSON.parse(this.json);
  }
}

/** Checks one argument. */
export interface Argument<T> {
  /** What is right, for messages: `a string`. */
  readonly wants: string;
  readonly isOptional: boolean;
  /** Returns the value, or `undefined` wrapped in nothing when it is wrong. */
  read(value: unknown): { readonly value: T } | undefined;
}

export type Arguments = Readonly<Record<string, Argument<unknown>>>;

/** The values that a table of arguments gives. */
export type ValuesOf<A extends Arguments> = {
  readonly [Name in keyof A]: A[Name] extends Argument<infer T> ? T : never;
};

interface CommandBase {
  readonly name: string;
  readonly effect: Effect;
}

/**
 * A command as `execute` runs it. `on` says what it needs: nothing (`browser`), a tab whatever it
 * shows (`tab`: what leaves, shows or closes it), a tab whose address clients may use (`site`), or
 * a page that may be read and touched (`page`).
 */
export type Command =
  | (CommandBase & {
      readonly on: 'browser';
      bind(args: unknown): (caller: Caller) => Promise<unknown>;
    })
  | (CommandBase & {
      readonly on: 'page' | 'site' | 'tab';
      /** Only what answers a dialog may run while one is open. */
      readonly answersDialog: boolean;
      bind(args: unknown): (page: Page) => Promise<unknown>;
    });

/** Returns the checked arguments, or throws `INVALID_ARGUMENT`. */
export function readArguments<A extends Arguments>(
  command: string,
  known: A,
  given: unknown,
): ValuesOf<A> {
  const args = given ?? {};
  if (!isRecord(args)) throw invalid(`${command}: arguments must be an object`);
  for (const name of Object.keys(args)) {
    if (!Object.hasOwn(known, name)) throw invalid(unknownArgument(command, known, name));
  }
  const values: Record<string, unknown> = {};
  for (const [name, argument] of Object.entries(known)) {
    values[name] = readOne(command, name, argument, args[name] ?? undefined);
  }
  // Each name was just read by the argument of that name.
  return values as ValuesOf<A>;
}

function readOne(command: string, name: string, argument: Argument<unknown>, value: unknown) {
  if (value === undefined && !argument.isOptional) {
    throw invalid(`${command}: ${name} is missing; it must be ${argument.wants}`);
  }
  const read = argument.read(value);
  if (read === undefined) {
    throw invalid(`${command}: ${name} must be ${argument.wants}, not ${show(value)}`);
  }
  return read.value;
}

function unknownArgument(command: string, known: Arguments, name: string): string {
  const names = Object.keys(known);
  const list = names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`;
  return `${command} has no argument ${name}; ${list}`;
}

/** Returns an `INVALID_ARGUMENT`. */
export function invalid(message: string): CommandError {
  return new CommandError('INVALID_ARGUMENT', message);
}

export function string(): Argument<string> {
  return required('a string', (value) => typeof value === 'string', String);
}

export function boolean(): Argument<boolean> {
  return required('true or false', (value) => typeof value === 'boolean', Boolean);
}

export function number(limits: Limits = {}): Argument<number> {
  return required(
    `a number${describe(limits)}`,
    (value) => typeof value === 'number' && Number.isFinite(value) && isWithin(value, limits),
    Number,
  );
}

export function integer(limits: Limits = {}): Argument<number> {
  return required(
    `a whole number${describe(limits)}`,
    (value) => typeof value === 'number' && Number.isSafeInteger(value) && isWithin(value, limits),
    Number,
  );
}

export function oneOf<const Words extends readonly string[]>(
  ...words: Words
): Argument<Words[number]> {
  return {
    wants: `one of ${words.join(', ')}`,
    isOptional: false,
    read(value) {
      const word = words.find((candidate) => candidate === value);
      return word === undefined ? undefined : { value: word };
    },
  };
}

export function stringList(): Argument<readonly string[]> {
  return listOf(string(), 'a list of strings');
}

/** Names with text values, such as headers. */
export function stringMap(): Argument<Readonly<Record<string, string>>> {
  return {
    wants: 'an object whose values are strings',
    isOptional: false,
    read(value) {
      if (!isRecord(value)) return undefined;
      const entries: Array<[string, string]> = [];
      for (const [name, text] of Object.entries(value)) {
        if (typeof text !== 'string') return undefined;
        entries.push([name, text]);
      }
      return { value: Object.fromEntries(entries) };
    },
  };
}

export function listOf<T>(item: Argument<T>, wants: string): Argument<readonly T[]> {
  return {
    wants,
    isOptional: false,
    read(value) {
      if (!Array.isArray(value)) return undefined;
      const items: T[] = [];
      for (const element of value) {
        const read = item.read(element);
        if (read === undefined) return undefined;
        items.push(read.value);
      }
      return { value: items };
    },
  };
}

/** Returns an argument that may be left out. */
export function optional<T>(argument: Argument<T>): Argument<T | undefined>;
export function optional<T>(argument: Argument<T>, fallback: T): Argument<T>;
export function optional<T>(argument: Argument<T>, fallback?: T): Argument<T | undefined> {
  return {
    wants: argument.wants,
    isOptional: true,
    read: (value) => (value === undefined ? { value: fallback } : argument.read(value)),
  };
}

interface Limits {
  readonly least?: number;
  readonly most?: number;
}

function required<T>(
  wants: string,
  isRight: (value: unknown) => boolean,
  convert: (value: unknown) => T,
): Argument<T> {
  return {
    wants,
    isOptional: false,
    read: (value) => (isRight(value) ? { value: convert(value) } : undefined),
  };
}

function describe({ least, most }: Limits): string {
  if (least !== undefined && most !== undefined) return ` from ${least} to ${most}`;
  if (least !== undefined) return ` of at least ${least}`;
  return most === undefined ? '' : ` of at most ${most}`;
}

function isWithin(value: number, { least, most }: Limits): boolean {
  return value >= (least ?? -Infinity) && value <= (most ?? Infinity);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
