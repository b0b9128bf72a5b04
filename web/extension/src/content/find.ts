/**
 * From a locator to an element: by reference, by selector, by text.
 *
 * Selectors and texts reach into shadow trees, closed ones too; the document itself comes first.
 */

import type { Locator, Problem } from './api';
import {
  body,
  documentElement,
  firstChild,
  isElement,
  nextSibling,
  queryAll,
  rectOf,
  textContent,
} from './dom';
import { Reading } from './reading';
import type { Refs } from './refs';
import { INTERACTIVE } from './role-tables';
import { allRoots, deepElementFromPoint, flatHolds, shadowRootOf } from './shadow';
import { asShown, spellings } from './text';
import { isVisible } from './visibility';
import { Walk } from './walker';

const CANDIDATES = 30;

export function find(locator: Locator, refs: Refs): Element | Problem {
  switch (locator.by) {
    case 'ref':
      return refs.get(locator.ref) ?? { problem: 'dead_ref', ref: locator.ref };
    case 'selector':
      return findBySelector(locator.selector);
    case 'text':
      return findByText(locator.text, refs) ?? { problem: 'not_found', matches: 0 };
    default:
      return locator satisfies never;
  }
}

function findBySelector(selector: string): Element | Problem {
  const matches = matchesOf(selector);
  if (!Array.isArray(matches)) return matches;
  const [first] = matches;
  if (!first) return { problem: 'not_found', matches: 0 };
  return matches.find(isVisible) ?? first;
}

/** Returns all that match: those of the document, or if it has none those of shadow trees. */
export function matchesOf(selector: string): Element[] | Problem {
  try {
    const inDocument = Array.from(queryAll(document, selector));
    if (inDocument.some(isVisible)) return inDocument;
    const [, ...shadowRoots] = allRoots();
    const inShadow = shadowRoots.flatMap((root) => Array.from(queryAll(root, selector)));
    return [...inDocument, ...inShadow];
  } catch (error) {
    return { problem: 'bad_selector', message: error instanceof Error ? error.message : selector };
  }
}

interface Match {
  readonly element: Element;
  /** 0 is best: whole before part, things to use before text. */
  readonly rank: number;
  readonly length: number;
}

function findByText(wanted: string, refs: Refs): Element | null {
  for (const text of spellings(wanted)) {
    const found = findShown(asShown(text), refs);
    if (found) return found;
  }
  return null;
}

function findShown(text: string, refs: Refs): Element | null {
  if (text === '') return null;
  const matches = rankMatches(text, refs);
  matches.sort((a, b) => a.rank - b.rank || a.length - b.length);
  const best = matches[0];
  if (!best) return findSplitText(text);
  const equals = matches
    .filter((match) => match.rank === best.rank && match.length === best.length)
    .slice(0, CANDIDATES);
  return (equals.find((match) => isOnTop(match.element)) ?? best).element;
}

/** Returns everything that has a text in its name or is the innermost around it, in tree order. */
export function namesWith(wanted: string, refs: Refs): Element[] {
  for (const text of spellings(wanted).map(asShown)) {
    const matches = text === '' ? [] : rankMatches(text, refs);
    if (matches.length > 0) return Array.from(new Set(matches.map(({ element }) => element)));
  }
  return [];
}

function rankMatches(text: string, refs: Refs): Match[] {
  const root = documentElement(document);
  const lower = text.toLowerCase();
  const walk = new Walk(
    new Reading(),
    { hidden: false, styled: true, reference: false },
    { refs, maxNodes: Number.POSITIVE_INFINITY, viewport: null, links: false },
  );
  const matches: Match[] = [];
  for (const { element, node } of walk.collectWithElements(root)) {
    const [, , role, given] = node;
    const name = asShown(given);
    const part = name.toLowerCase().includes(lower);
    if (!part) continue;
    const isWhole = name === text;
    const grade = isWhole ? 0 : name.toLowerCase() === lower ? 2 : 4;
    const rank = grade + (INTERACTIVE.has(role) ? 0 : 1);
    matches.push({ element, rank, length: name.length });
  }
  return matches;
}

// Text that inline elements cut in pieces: the deepest element that has all of it.
function findSplitText(text: string): Element | null {
  const lower = text.toLowerCase();
  const hasIt = (node: Node) =>
    asShown(textContent(node) ?? '')
      .toLowerCase()
      .includes(lower);
  let found: Element | null = null;
  let within: Element | null = body(document);
  while (within && hasIt(within)) {
    found = within;
    within = null;
    for (const child of childElements(found)) {
      if (isVisible(child) && hasIt(child)) {
        within = child;
        break;
      }
    }
  }
  return found && found !== body(document) ? found : null;
}

function childElements(element: Element): Element[] {
  const children: Element[] = [];
  let child = firstChild(shadowRootOf(element) ?? element);
  for (; child; child = nextSibling(child)) if (isElement(child)) children.push(child);
  return children;
}

function isOnTop(element: Element): boolean {
  const { left, top, width, height } = rectOf(element);
  const hit = deepElementFromPoint(left + width / 2, top + height / 2);
  return hit !== null && flatHolds(element, hit);
}
