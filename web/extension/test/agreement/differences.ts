/**
 * Where our walker differs from Chrome on purpose: two short lists, each entry with its reason.
 *
 * What is listed is counted apart, and the test limits how often. Everything else that differs is
 * wrong.
 */

import { type Pair, plain } from './compare';
import type { State } from './properties';

export interface Difference<T> {
  readonly reason: string;
  applies(pair: Pair, what: T): boolean;
}

const FIELDS = new Set(['ColorWell', 'Date', 'DateTime', 'InputTime']);
const SUMMARIES = new Set(['DisclosureTriangle', 'DisclosureTriangleGrouped']);
const GRID_PARTS = new Set(['gridcell', 'columnheader', 'row', 'rowheader']);
const UNPLAYABLE = 'Unable to play media.';

/** Of role or name. */
export const NODE_DIFFERENCES: ReadonlyArray<Difference<void>> = [
  {
    reason: 'fields for dates, times and colours take text: a textbox, with its type',
    applies: (pair) => hasRoles(pair, 'textbox', FIELDS) && hasSameName(pair),
  },
  {
    reason: 'a summary is pressed like a button; Chrome has a role of its own for it',
    applies: (pair) => hasRoles(pair, 'button', SUMMARIES) && hasSameName(pair),
  },
  {
    reason: 'an editable element is typed into: a textbox; Chrome has no role for it',
    applies: (pair) =>
      pair.attributes.has('contenteditable') && pair.ours?.role === 'textbox' && !pair.chromes,
  },
  {
    reason: 'a label stands for its control that cannot be seen; Chrome leaves the control out',
    applies: ({ tag, ours, chromes }) => isTag(tag, 'label') && ours !== null && !chromes,
  },
  {
    reason: 'an anchor that listens is a link in Chrome; listeners cannot be seen from a script',
    applies: ({ tag, attributes, ours, chromes }) =>
      isTag(tag, 'a') && !attributes.has('href') && !ours && chromes?.role === 'link',
  },
  {
    reason: 'media that cannot be played keeps its name; Chrome tells the fault instead',
    applies: ({ ours, chromes }) => ours?.role === chromes?.role && chromes?.name === UNPLAYABLE,
  },
];

/** Of states. */
export const STATE_DIFFERENCES: ReadonlyArray<Difference<State>> = [
  {
    reason: 'a drop-down list is chosen from without being opened: whether it is open is not told',
    applies: ({ tag }, { property, ours, chromes }) =>
      isTag(tag, 'select') && property === 'expanded' && ours === null && chromes === 'false',
  },
  {
    reason: 'what must be filled in or cannot be changed is told of every field, not of text only',
    applies: (_, { property, ours, chromes }) =>
      (property === 'required' || property === 'readonly') && ours === 'true' && chromes === null,
  },
  {
    reason: 'a field is called invalid once a user has been in it; Chrome does so from the start',
    applies: ({ attributes }, { property, ours }) =>
      property === 'invalid' && ours === null && !attributes.has('aria-invalid'),
  },
  {
    reason: 'a range tells what the page calls its value; the protocol leaves that out',
    applies: ({ attributes }, { property }) =>
      property === 'value' && attributes.has('aria-valuetext'),
  },
  {
    reason: 'a password is never told, not even its length',
    applies: ({ ours }, { property }) => property === 'value' && ours?.value === '•••',
  },
  {
    reason: 'a disabled group of fields says so itself; Chrome tells it of the fields only',
    applies: ({ tag }, { property, chromes }) =>
      isTag(tag, 'fieldset') && property === 'disabled' && chromes === null,
  },
  {
    reason: 'a grid that cannot be changed says so once, not again in each cell',
    applies: ({ ours }, { property, chromes }) =>
      property === 'readonly' && chromes === 'true' && GRID_PARTS.has(ours?.role ?? ''),
  },
  {
    reason: 'a label stands for its control that cannot be seen, and tells what is in it',
    applies: ({ tag }, { property, chromes }) =>
      isTag(tag, 'label') && property === 'value' && chromes === null,
  },
  {
    reason: 'Chrome calls what it cannot load disabled',
    applies: ({ ours }, { property }) =>
      property === 'disabled' && ['audio', 'object', 'video'].includes(ours?.role ?? ''),
  },
];

/** Returns why the two differ on purpose; null when nothing says so. */
export function reasonFor<T>(
  differences: ReadonlyArray<Difference<T>>,
  pair: Pair,
  what: T,
): string | null {
  return differences.find((difference) => difference.applies(pair, what))?.reason ?? null;
}

function isTag(tag: string, name: string): boolean {
  return tag.startsWith(`<${name}>`) || tag.startsWith(`<${name} `);
}

function hasRoles({ ours, chromes }: Pair, role: string, theirs: ReadonlySet<string>): boolean {
  return ours?.role === role && chromes !== null && theirs.has(chromes.role);
}

function hasSameName({ ours, chromes }: Pair): boolean {
  return plain(ours?.name ?? '') === plain(chromes?.name ?? '');
}
