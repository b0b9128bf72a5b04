/**
 * Keys by name: what a keyboard with the US layout sends for them.
 *
 * In comes `Enter`, `a`, `Control+Shift+ArrowDown`; out goes what `Input.dispatchKeyEvent` needs.
 * Sends nothing.
 */

import { invalid } from '../../command';

/** One key as the debugger wants it. */
export interface Key {
  readonly key: string;
  readonly code: string;
  readonly keyCode: number;
  /** What it writes, if it writes anything. */
  readonly text?: string;
  readonly location?: number;
}

export const MODIFIERS = { alt: 1, ctrl: 2, meta: 4, shift: 8 } as const;

export type Modifier = keyof typeof MODIFIERS;

/** A key together with what is held down. */
export interface Stroke {
  readonly key: Key;
  readonly modifiers: readonly Modifier[];
}

const NAMED: ReadonlyArray<readonly [string, string, number, (string | undefined)?, number?]> = [
  ['Enter', 'Enter', 13, '\r'],
  ['Tab', 'Tab', 9],
  ['Escape', 'Escape', 27],
  ['Backspace', 'Backspace', 8],
  ['Delete', 'Delete', 46],
  ['Insert', 'Insert', 45],
  ['Home', 'Home', 36],
  ['End', 'End', 35],
  ['PageUp', 'PageUp', 33],
  ['PageDown', 'PageDown', 34],
  ['ArrowLeft', 'ArrowLeft', 37],
  ['ArrowUp', 'ArrowUp', 38],
  ['ArrowRight', 'ArrowRight', 39],
  ['ArrowDown', 'ArrowDown', 40],
  ['CapsLock', 'CapsLock', 20],
  ['NumLock', 'NumLock', 144],
  ['ScrollLock', 'ScrollLock', 145],
  ['Pause', 'Pause', 19],
  ['PrintScreen', 'PrintScreen', 44],
  ['ContextMenu', 'ContextMenu', 93],
  ['Shift', 'ShiftLeft', 16, undefined, 1],
  ['Control', 'ControlLeft', 17, undefined, 1],
  ['Alt', 'AltLeft', 18, undefined, 1],
  ['Meta', 'MetaLeft', 91, undefined, 1],
];

const ALIASES: Readonly<Record<string, string>> = {
  backspace: 'Backspace',
  del: 'Delete',
  down: 'ArrowDown',
  esc: 'Escape',
  ins: 'Insert',
  left: 'ArrowLeft',
  pgdn: 'PageDown',
  pgup: 'PageUp',
  return: 'Enter',
  right: 'ArrowRight',
  space: ' ',
  spacebar: ' ',
  up: 'ArrowUp',
};

const MODIFIER_NAMES: Readonly<Record<string, Modifier>> = {
  alt: 'alt',
  cmd: 'meta',
  command: 'meta',
  control: 'ctrl',
  ctrl: 'ctrl',
  meta: 'meta',
  option: 'alt',
  shift: 'shift',
  super: 'meta',
  win: 'meta',
};

// Unshifted, shifted, code, key code.
const SYMBOLS: ReadonlyArray<readonly [string, string, string, number]> = [
  ['`', '~', 'Backquote', 192],
  ['-', '_', 'Minus', 189],
  ['=', '+', 'Equal', 187],
  ['[', '{', 'BracketLeft', 219],
  [']', '}', 'BracketRight', 221],
  ['\\', '|', 'Backslash', 220],
  [';', ':', 'Semicolon', 186],
  ["'", '"', 'Quote', 222],
  [',', '<', 'Comma', 188],
  ['.', '>', 'Period', 190],
  ['/', '?', 'Slash', 191],
];

const SHIFTED_DIGITS = ')!@#$%^&*(';

const KEYS = new Map<string, Key>(allKeys().map((key) => [key.key, key]));
// What a shifted key writes, by what it writes alone: `a` → `A`, `1` → `!`.
const SHIFTED = new Map<string, string>(shiftedPairs());

/** Returns the key that writes a character, or nothing if no key does. */
export function keyForCharacter(character: string): Stroke | undefined {
  const key = KEYS.get(character === '\n' ? 'Enter' : character);
  if (key === undefined || (key.text === undefined && key.key.length > 1)) return undefined;
  const isShifted = [...SHIFTED.values()].includes(character);
  return { key, modifiers: isShifted ? ['shift'] : [] };
}

/** Reads `Control+A` and the like; modifiers given apart are added. */
export function parseStroke(text: string, held: readonly Modifier[] = []): Stroke {
  const parts = splitStroke(text);
  const name = parts.pop() ?? '';
  const modifiers = new Set<Modifier>(held);
  for (const part of parts) {
    const modifier = MODIFIER_NAMES[part.toLowerCase()];
    if (modifier === undefined) throw invalid(unknownKey(text, `${part} is no modifier`));
    modifiers.add(modifier);
  }
  // `A` alone is typed with Shift; in `Control+A` the capital is only a way of writing.
  const plain = modifiers.size > 0 && /^[A-Z]$/.test(name) ? name.toLowerCase() : name;
  const key = findKey(plain, modifiers.has('shift'));
  if (key === undefined) throw invalid(unknownKey(text, `there is no key ${name}`));
  if ([...SHIFTED.values()].includes(key.key)) modifiers.add('shift');
  return { key, modifiers: [...modifiers] };
}

/** Returns the bits that the debugger wants for modifiers. */
export function modifierBits(modifiers: readonly Modifier[]): number {
  return modifiers.reduce((bits, modifier) => bits | MODIFIERS[modifier], 0);
}

function splitStroke(text: string): string[] {
  if (text === '+' || text === '') return [text];
  // `Control++` is Control and the plus key.
  const isPlus = text.endsWith('++');
  const parts = (isPlus ? text.slice(0, -2) : text).split('+').map((part) => part.trim() || part);
  return isPlus ? [...parts, '+'] : parts;
}

function findKey(name: string, isShifted: boolean): Key | undefined {
  const found = KEYS.get(name) ?? KEYS.get(ALIASES[name.toLowerCase()] ?? '') ?? findNamed(name);
  if (found === undefined) return undefined;
  if (found.key.length > 1) return found;
  const plain = [...SHIFTED].find(([, shifted]) => shifted === found.key)?.[0] ?? found.key;
  if (isShifted) return KEYS.get(SHIFTED.get(plain) ?? plain);
  return found;
}

function findNamed(name: string): Key | undefined {
  const wanted = name.toLowerCase();
  if (wanted.length === 1) return undefined;
  return [...KEYS.values()].find(
    ({ key, code }) => key.toLowerCase() === wanted || code.toLowerCase() === wanted,
  );
}

function unknownKey(text: string, reason: string): string {
  return `key ${JSON.stringify(text)}: ${reason}; write Enter, a, ArrowDown, F5 or Control+Shift+A`;
}

function allKeys(): Key[] {
  const keys: Key[] = NAMED.map(([key, code, keyCode, text, location]) => ({
    key,
    code,
    keyCode,
    ...(text === undefined ? {} : { text }),
    ...(location === undefined ? {} : { location }),
  }));
  for (let n = 1; n <= 12; n++) keys.push({ key: `F${n}`, code: `F${n}`, keyCode: 111 + n });
  keys.push({ key: ' ', code: 'Space', keyCode: 32, text: ' ' });
  for (const [plain, shifted, code, keyCode] of characterKeys()) {
    keys.push({ key: plain, code, keyCode, text: plain });
    keys.push({ key: shifted, code, keyCode, text: shifted });
  }
  return keys;
}

function characterKeys(): Array<readonly [string, string, string, number]> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => {
    const capital = letter.toUpperCase();
    return [letter, capital, `Key${capital}`, capital.charCodeAt(0)] as const;
  });
  const digits = [...SHIFTED_DIGITS].map((shifted, digit) => {
    return [String(digit), shifted, `Digit${digit}`, 48 + digit] as const;
  });
  return [...letters, ...digits, ...SYMBOLS];
}

function shiftedPairs(): Array<[string, string]> {
  return characterKeys().map(([plain, shifted]) => [plain, shifted]);
}
