/**
 * How clients look in the tab strip: a title and a colour each.
 */

/** A client, as the hub names it. */
export interface ClientName {
  readonly id: string;
  readonly name: string;
}

/** Those that groups can have, without the grey that people's own groups begin with. */
export const COLOURS = [
  'blue',
  'red',
  'yellow',
  'green',
  'pink',
  'purple',
  'cyan',
  'orange',
] as const;

export type Colour = (typeof COLOURS)[number];

const LONGEST_TITLE = 40;

/** Returns the name, with a number if another client has it already. */
export function titleFor(name: string, others: Iterable<string>): string {
  const taken = new Set(others);
  const base = name.trim().slice(0, LONGEST_TITLE) || 'AI client';
  if (!taken.has(base)) return base;
  let number = 2;
  while (taken.has(`${base} ${number}`)) number += 1;
  return `${base} ${number}`;
}

/** Returns the same colour for the same client, always. */
export function colourFor(clientId: string): Colour {
  // FNV-1a: short ids that differ in one character fall far apart.
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(clientId)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return COLOURS[hash % COLOURS.length] ?? 'blue';
}
