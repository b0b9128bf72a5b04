/**
 * Long lists of things alike: where one begins and ends, so that nobody has to read all of it.
 *
 * Looks at a few of the children only. A short list, or one whose parts differ, is none.
 */

import {
  childElementCount,
  className,
  firstElementChild,
  lastElementChild,
  localName,
  nextElementSibling,
} from './dom';

/** A list of which only the first and the last are read. */
export interface Fold {
  readonly first: Element;
  readonly last: Element;
  /** How many there are in all. */
  readonly count: number;
}

const LONG = 20;
const LOOKED_AT = 8;
// What is in them belongs together, however much it is.
const WHOLE = new Set(['p', 'select', 'svg', 'tr']);

/** Returns the list that an element is, if it is a long one. */
export function foldOf(element: Element, tag: string): Fold | null {
  if (WHOLE.has(tag)) return null;
  const count = childElementCount(element);
  if (count <= LONG) return null;
  const [first, last] = [firstElementChild(element), lastElementChild(element)];
  if (!first || !last) return null;
  const look = lookOf(first);
  let next: Element | null = first;
  for (let looks = 0; next && looks < LOOKED_AT; looks++) {
    if (lookOf(next) !== look) return null;
    next = nextElementSibling(next);
  }
  return lookOf(last) === look ? { first, last, count } : null;
}

function lookOf(element: Element): string {
  const inside = firstElementChild(element);
  return `${localName(element)}.${className(element)}>${inside ? localName(inside) : ''}`;
}
