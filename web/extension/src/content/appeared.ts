/**
 * What is telling in a part of the page that has appeared: messages, headings, things to use, rows.
 *
 * Read by the walk that makes snapshots, so roles, names, references and masked passwords are the
 * same there and here. How much it looks at is limited for all parts together.
 */

import type { Thing } from './api';
import { closest, holds, innerText, localName, parentElement, queryAll, rootOf } from './dom';
import type { Candidate, Rank } from './fact-choice';
import { FACT_TEXT } from './fact-limits';
import type { Fold } from './folding';
import type { Reading } from './reading';
import type { Refs } from './refs';
import { INTERACTIVE } from './role-tables';
import { asName, cut } from './text';
import { isCutOff, isVisible } from './visibility';
import { type SnapshotNode, Walk } from './walker';

/** What speaks to the user, whose words are the text in it. */
export const SPEAKING: ReadonlySet<string> = new Set(['alert', 'log', 'status', 'tooltip']);
const DIALOGS = new Set(['alertdialog', 'dialog']);
/** Told whole, in one line. */
const LINES = new Set(['paragraph', 'row']);
const SHOWN_STATES = new Set('checked disabled expanded invalid mixed pressed selected'.split(' '));
const PATH_LENGTH = 4;
const MOST_NODES = 150;
const MOST_VISITS = 800;
/** Elements in one whose text is read. */
const MOST_READ = 200;

type Found = { readonly element: Element; readonly node: SnapshotNode };

export class Appeared {
  readonly #refs: Refs;
  readonly #reading: Reading;
  #nodes = MOST_NODES;
  #visits = MOST_VISITS;

  constructor(refs: Refs, reading: Reading) {
    this.#refs = refs;
    this.#reading = reading;
  }

  /** Reads one part; `speaks` says that what is around it speaks to the user. */
  read(root: Element, speaks: boolean): Candidate[] {
    if (this.#nodes <= 0 || this.#visits <= 0) return [];
    const folds: Fold[] = [];
    const collector = {
      refs: this.#refs,
      maxNodes: this.#nodes,
      maxVisits: this.#visits,
      viewport: null,
      links: false,
      folds,
    };
    const walk = new Walk(
      this.#reading,
      { hidden: false, styled: true, reference: false },
      collector,
    );
    const found = walk.collectWithElements(root);
    this.#nodes -= found.length;
    this.#visits -= walk.visits;
    return this.#candidates(found, folds, speaks);
  }

  #candidates(found: readonly Found[], folds: readonly Fold[], speaks: boolean): Candidate[] {
    const isPlain = !found.some(({ node }) => isUsable(node));
    const textRank: Rank = speaks ? 'urgent' : isPlain ? 'thing' : 'rest';
    const open = new Set(folds);
    const lastOf = (element: Element) => folds.find(({ last }) => holds(last, element));
    /** Below this depth only what can be used is told. */
    let quietBelow = Number.POSITIVE_INFINITY;
    return joinTexts(found, lastOf).flatMap(({ element, node }, at, all) => {
      const [, depth, role] = node;
      if (depth <= quietBelow) quietBelow = Number.POSITIVE_INFINITY;
      if (depth > quietBelow && !isUsable(node)) return [];
      // A paragraph around fields and buttons is no line of text.
      if (role === 'paragraph' && holdsUsable(all, at)) return [];
      if (SPEAKING.has(role) || LINES.has(role)) quietBelow = Math.min(quietBelow, depth);
      const candidate = isSeen(element) ? this.#candidate(element, node, textRank) : null;
      if (!candidate) return [];
      const fold = lastOf(element);
      // The first word of a list's last part: those between were not looked at.
      return fold && open.delete(fold)
        ? [moreCandidate(fold.count - 2, isPlain ? textRank : 'thing'), candidate]
        : [candidate];
    });
  }

  #candidate(element: Element, node: SnapshotNode, textRank: Rank): Candidate | null {
    const candidate = this.#anyCandidate(element, node, textRank);
    const { fact } = candidate ?? {};
    // What has no name is told only if it can be used all the same.
    const isNamed = fact?.what === 'appeared' && (fact.name !== '' || fact.ref !== undefined);
    return isNamed ? candidate : null;
  }

  #anyCandidate(element: Element, node: SnapshotNode, textRank: Rank): Candidate | null {
    const [, , role, name] = node;
    if (role === 'text') return textCandidate(element, name, textRank);
    if (SPEAKING.has(role)) return candidateOf(element, 'urgent', spoken(element, role, name));
    if (role === 'paragraph') return textCandidate(element, this.#textOf(element), textRank);
    if (role === 'row') return candidateOf(element, 'thing', { role, name: this.#textOf(element) });
    if (DIALOGS.has(role)) {
      return candidateOf(element, 'urgent', { role, name: name || this.#textOf(element) });
    }
    if (role === 'heading') return candidateOf(element, 'thing', { role, name });
    if (!isUsable(node)) return null;
    const thing = usable(node);
    const isBare = name === '' && !INTERACTIVE.has(role);
    const told = isBare ? { ...thing, name: this.#textOf(element) } : thing;
    return candidateOf(element, 'thing', told);
  }

  // Whatever is larger is told by what is in it.
  #textOf(element: Element): string {
    if (queryAll(element, '*').length > MOST_READ) return '';
    return this.#reading.readText(element, { reference: false });
  }
}

/** Whether something in the node can be used: those in it follow it, deeper. */
function holdsUsable(nodes: readonly Found[], at: number): boolean {
  const depth = nodes[at]?.node[1] ?? 0;
  for (let next = at + 1; next < nodes.length; next++) {
    const node = nodes[next]?.node;
    if (!node || node[1] <= depth) return false;
    if (isUsable(node)) return true;
  }
  return false;
}

/** What an element says that speaks to the user; one with a name of its own says a value. */
export function spoken(element: Element, role: string, name: string): Thing {
  const words = element instanceof HTMLElement ? short(innerText(element)) : '';
  if (name === '' || words === '' || name === words) return { role, name: short(words || name) };
  return { role, name: short(name), value: words };
}

/** Makes one of the pieces of a line, as far as nothing else stands between them. */
function joinTexts(
  found: readonly Found[],
  lastOf: (element: Element) => Fold | undefined,
): Found[] {
  const joined: Found[] = [];
  for (const { element, node } of found) {
    const last = joined[joined.length - 1];
    const [ref, depth, role, name] = node;
    const isPiece = role === 'text' && last?.node[2] === 'text' && last.node[1] === depth;
    if (isPiece && lastOf(last.element) === lastOf(element)) {
      joined.pop();
      joined.push({ element: last.element, node: [ref, depth, role, `${last.node[3]} ${name}`] });
    } else joined.push({ element, node });
  }
  return joined;
}

function textCandidate(element: Element, text: string, rank: Rank): Candidate {
  return candidateOf(element, rank, { role: 'text', name: text });
}

/** Counts things that are not told. */
export function moreCandidate(count: number, rank: Rank): Candidate {
  return { rank, shape: '', fact: { what: 'more', count } };
}

function candidateOf(element: Element, rank: Rank, thing: Thing): Candidate {
  const fact = { what: 'appeared' as const, ...thing, name: short(thing.name) };
  return { rank, shape: `${thing.role} ${pathOf(element)}`, fact };
}

/** A text as facts have it: one line, and not long. */
export function short(text: string): string {
  return cut(asName(text), FACT_TEXT);
}

function usable([ref, , role, name, value, flags = []]: SnapshotNode): Thing {
  const states = flags.filter((flag) => SHOWN_STATES.has(flag));
  const isTold = value !== undefined && value !== null && !flags.includes('password');
  return {
    role,
    name,
    ref,
    ...(isTold ? { value: short(value) } : {}),
    ...(states.length > 0 ? { states } : {}),
  };
}

function isUsable([ref, , role, , , flags = []]: SnapshotNode): boolean {
  return ref > 0 && (INTERACTIVE.has(role) || flags.includes('clickable'));
}

/** The tags from the element outwards: the same for each row of a list. */
function pathOf(element: Element): string {
  const path: string[] = [];
  for (let at: Element | null = element; at && path.length < PATH_LENGTH; at = parentElement(at)) {
    path.push(localName(at));
  }
  return path.join('<');
}

/** Whether a user sees it, where it is. */
export function isSeen(element: Element): boolean {
  return isVisible(element) && !isCutOff(element);
}

/** Whether something around it keeps it from being told: hidden from readers, or out of reach. */
export function isAside(element: Element): boolean {
  let current: Element | null = element;
  while (current) {
    if (closest(current, '[aria-hidden="true" i], [inert]')) return true;
    const root = rootOf(current);
    current = root instanceof ShadowRoot ? root.host : null;
  }
  return false;
}
