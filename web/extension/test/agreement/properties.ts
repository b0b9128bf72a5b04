/**
 * Compares the states and values of elements that both sides tell.
 *
 * A state counts where at least one side has it; one that is off on one side and missing on the
 * other is the same, except where missing means something else (no check box, nothing to expand).
 * Values of native fields are compared to the letter, spaces included; numbers as numbers.
 */

import type { ChromeElement } from './chrome-tree';
import type { Pair } from './compare';
import { plain } from './compare';
import type { OurNode } from './walker-tree';

/** One state of one element, as either side tells it; null is off or missing. */
export interface State {
  readonly property: string;
  readonly ours: string | null;
  readonly chromes: string | null;
}

interface Property {
  readonly name: string;
  ours(node: OurNode): string | null;
  chromes(element: ChromeElement): string | null;
}

/** Returns the states that at least one side tells. */
export function statesOf({ ours, chromes }: Pair): State[] {
  if (!ours || !chromes) return [];
  return PROPERTIES.map((property) => ({
    property: property.name,
    ours: property.ours(ours),
    chromes: property.chromes(chromes),
  })).filter((state) => state.ours !== null || state.chromes !== null);
}

/** Whether both sides tell the same state. */
export function isSame({ tag }: Pair, { property, ours, chromes }: State): boolean {
  if (property !== 'value' || ours === null || chromes === null) return ours === chromes;
  if (/^<(?:input|textarea)/.test(tag)) return ours === chromes || isSameNumber(ours, chromes);
  return plain(ours) === plain(chromes) || isSameNumber(ours, chromes);
}

// `007` in a field for numbers is 7 for Chrome.
function isSameNumber(one: string, other: string): boolean {
  return one.trim() === one && Number(one) === Number(other);
}

const has = (node: OurNode, flag: string) => node.flags.includes(flag);

function told(element: ChromeElement, name: string): string | null {
  const value = element.properties.get(name);
  return value === undefined ? null : String(value);
}

/** Off and missing are the same. */
function simple(name: string): Property {
  return {
    name,
    ours: (node) => (has(node, name) ? 'true' : null),
    chromes: (element) => {
      const value = told(element, name);
      return value === 'false' ? null : value;
    },
  };
}

const CHECKED: Property = {
  name: 'checked',
  ours: (node) => {
    if (has(node, 'checked')) return 'true';
    if (has(node, 'unchecked')) return 'false';
    return has(node, 'mixed') && node.role !== 'button' ? 'mixed' : null;
  },
  chromes: (element) => told(element, 'checked'),
};

const PRESSED: Property = {
  name: 'pressed',
  ours: (node) => {
    if (has(node, 'pressed')) return 'true';
    return has(node, 'mixed') && node.role === 'button' ? 'mixed' : null;
  },
  chromes: simple('pressed').chromes,
};

const EXPANDED: Property = {
  name: 'expanded',
  ours: (node) => (has(node, 'expanded') ? 'true' : has(node, 'collapsed') ? 'false' : null),
  chromes: (element) => told(element, 'expanded'),
};

// Of headings: the level of items in lists and trees is the depth at which they are told.
const LEVEL: Property = {
  name: 'level',
  ours: (node) => {
    const level = node.flags.find((flag) => flag.startsWith('level='))?.slice('level='.length);
    return node.role === 'heading' ? (level ?? null) : null;
  },
  chromes: (element) => (element.role === 'heading' ? told(element, 'level') : null),
};

const VALUE: Property = {
  name: 'value',
  ours: (node) => node.value || null,
  chromes: (element) => (told(element, 'valuetext') || element.value) ?? null,
};

const INVALID: Property = {
  name: 'invalid',
  ours: simple('invalid').ours,
  // Which kind of fault it is does not matter here.
  chromes: (element) => (simple('invalid').chromes(element) === null ? null : 'true'),
};

const PROPERTIES: readonly Property[] = [
  CHECKED,
  PRESSED,
  EXPANDED,
  LEVEL,
  VALUE,
  INVALID,
  ...['disabled', 'focused', 'readonly', 'required', 'selected'].map(simple),
];
