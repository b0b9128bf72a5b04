/**
 * What an act has changed for somebody who looks at the page: at most a handful of facts.
 *
 * Between arming and asking it only notes which nodes were touched. Asked, it looks at those, at
 * what was hidden before, and at fields, and tells what can be seen of it. The counts of all changes
 * are `change-counter.ts`'s matter.
 */

import type { Fact } from './api';
import { Appeared, isAside, moreCandidate, SPEAKING, short } from './appeared';
import { Before, isUnseen } from './before';
import { Changed } from './changed';
import {
  closest,
  firstChild,
  isConnected,
  isElement,
  localName,
  nextSibling,
  parentNode,
  precedes,
  textContent,
} from './dom';
import { type Candidate, chooseFacts, RANKS } from './fact-choice';
import { Reading } from './reading';
import type { Refs } from './refs';
import { NAMED_BY_CONTENT } from './role-tables';
import { flatParent } from './shadow';
import { type Batch, KEPT_FIRST, Touched } from './touched';

const MOST_ROOTS = 60;
const MOST_CHILDREN = 1000;
const MOST_GONE = 2;

/** A part that has appeared, and how many like it follow that are not looked at. */
interface Root {
  readonly element: Element;
  readonly more: number;
}

export class Effects {
  readonly #refs: Refs;
  #before: Before | null = null;
  #touched: Touched | null = null;

  constructor(refs: Refs) {
    this.#refs = refs;
  }

  /** Notes how things stand. */
  arm(): void {
    this.forget();
    tolerant(() => {
      this.#before = new Before(this.#refs);
      this.#touched = new Touched();
    });
  }

  /** Notes which nodes a change has touched. */
  note(record: MutationRecord): void {
    this.#touched?.note(record);
  }

  /** Takes what is in a field for known to the reader. */
  know(field: Element): void {
    this.#before?.know(field);
  }

  /** Lets go of everything. */
  forget(): void {
    this.#before = null;
    this.#touched = null;
  }

  /** Tells what is different since it was armed. */
  tell(): Fact[] {
    const [before, touched] = [this.#before, this.#touched];
    if (!before || !touched) return [];
    return tolerant(() => new Telling(this.#refs, before, touched).facts()) ?? [];
  }
}

// Telling is a courtesy: whatever a page has made of its nodes, the act itself must not fail by it.
function tolerant<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

class Telling {
  readonly #before: Before;
  readonly #touched: Touched;
  readonly #reading = new Reading();
  readonly #appeared: Appeared;
  readonly #changed: Changed;
  readonly #read = new Set<Element>();

  constructor(refs: Refs, before: Before, touched: Touched) {
    this.#before = before;
    this.#touched = touched;
    this.#appeared = new Appeared(refs, this.#reading);
    this.#changed = new Changed(refs, this.#reading);
  }

  facts(): Fact[] {
    const appeared = this.#roots().flatMap((root) => this.#readRoot(root));
    for (const [element, before] of this.#touched.texts) {
      if (isConnected(element) && !this.#isRead(element)) this.#changed.noteText(element, before);
    }
    this.#changed.compareAttributes(this.#touched);
    this.#changed.compareFields(this.#before);
    const changed = this.#changed.candidates((element) => this.#isRead(element));
    return chooseFacts([...this.#gone(), ...changed, ...appeared]);
  }

  /** What has appeared, in the order of the page; nothing twice. */
  #roots(): Root[] {
    const roots = new Map<Element, Root>();
    const add = (element: Element, more = 0) => {
      const isNew = !roots.has(element) && roots.size < MOST_ROOTS && isConnected(element);
      if (isNew && !isUnseen(element, localName(element))) roots.set(element, { element, more });
    };
    for (const element of this.#before.shown()) add(element);
    for (const element of this.#touched.unhidden) add(element);
    for (const batch of this.#touched.batches()) {
      for (const { element, more } of rootsOf(batch)) add(element, more);
    }
    const outer = [...roots.values()].filter(({ element }) => !isInside(element, roots));
    return outer.sort(({ element }, other) => (precedes(element, other.element) ? -1 : 1));
  }

  #readRoot({ element, more }: Root): Candidate[] {
    if (isAside(element)) return [];
    this.#read.add(element);
    const around = flatParent(element);
    const unit = around && this.#changed.unitAround(around);
    const role = unit ? this.#reading.roles.of(unit) : '';
    // Within a button or heading it is a part of that one's name.
    if (unit && NAMED_BY_CONTENT.has(role) && !HOLDERS.has(role)) {
      this.#changed.rename(unit);
      return [];
    }
    const candidates = this.#appeared.read(element, SPEAKING.has(role));
    const rank = RANKS.find((each) => candidates.some((one) => one.rank === each)) ?? 'rest';
    if (more > 0) candidates.push(moreCandidate(more, rank));
    return candidates;
  }

  #gone(): Candidate[] {
    const gone: Candidate[] = [];
    for (const { element, role, name } of this.#before.dialogs) {
      const dialog = element.deref();
      const isThere = dialog && isConnected(dialog) && !isUnseen(dialog, localName(dialog));
      if (!isThere && name !== '') gone.push(goneCandidate(role, name));
    }
    return [...gone, ...this.#goneItems()];
  }

  // One or two are news; many are a list that was made anew.
  #goneItems(): Candidate[] {
    const items = [...this.#touched.removed].filter(
      ([item, parent]) => !isConnected(item) && isConnected(parent) && isSeenParent(parent),
    );
    if (items.length > MOST_GONE) return [];
    const isReplaced = items.some(([, parent]) =>
      [...this.#touched.batches()].some((batch) => batch.parent === parent),
    );
    if (isReplaced) return [];
    return items.flatMap(([item]) => {
      const name = short(textContent(item) ?? '');
      return name === '' ? [] : [goneCandidate(localName(item) === 'tr' ? 'row' : 'item', name)];
    });
  }

  #isRead(element: Element): boolean {
    let current: Element | null = element;
    while (current) {
      if (this.#read.has(current)) return true;
      current = flatParent(current);
    }
    return false;
  }
}

/** Named by what is in them, but made to hold other things. */
const HOLDERS = new Set(['cell', 'columnheader', 'gridcell', 'rowheader', 'term', 'treeitem']);

function goneCandidate(role: string, name: string): Candidate {
  return { rank: 'urgent', shape: `gone ${role}`, fact: { what: 'gone', role, name: short(name) } };
}

function isSeenParent(parent: Node): boolean {
  return isElement(parent) && !isUnseen(parent, localName(parent));
}

/** Those of a batch that are read: of many only the first and the last. */
function rootsOf(batch: Batch): Root[] {
  const { members, count } = membersOf(batch);
  const [first, last] = [members[0], members[members.length - 1]];
  if (count <= KEPT_FIRST || !first || !last) {
    return members.map((element) => ({ element, more: 0 }));
  }
  if (first === last) return [{ element: first, more: count - 1 }];
  return [
    { element: first, more: count - 2 },
    { element: last, more: 0 },
  ];
}

function membersOf({ parent, tag, first, last, count }: Batch) {
  const there = childrenOf(parent, tag);
  // Where each one is new, the page itself knows best which they are.
  const isAllNew = there.length <= count && there.length < MOST_CHILDREN;
  if (isAllNew) return { members: there, count: there.length };
  const known = [...first.filter((each) => each !== last), last];
  const members = known.filter((each) => parentNode(each) === parent);
  return { members, count: members.length === 0 ? 0 : Math.max(count, members.length) };
}

function childrenOf(parent: Node, tag: string): Element[] {
  const children: Element[] = [];
  // Options of a drop-down list show nothing before it is opened.
  if (isElement(parent) && closest(parent, 'select')) return children;
  for (let node = firstChild(parent); node; node = nextSibling(node)) {
    if (isElement(node) && localName(node) === tag) children.push(node);
    if (children.length >= MOST_CHILDREN) break;
  }
  return children;
}

function isInside(element: Element, roots: ReadonlyMap<Element, unknown>): boolean {
  let current = flatParent(element);
  while (current) {
    if (roots.has(current)) return true;
    current = flatParent(current);
  }
  return false;
}
