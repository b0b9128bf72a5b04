/**
 * Which nodes changes have touched since it was armed, as far as they may matter to a reader.
 *
 * Fed with the records of the document's observer; keeps few nodes, however many change, and is
 * thrown away when it is armed again. Whether anything can be seen is decided later.
 */

import { attribute, isElement, isText, localName, textData } from './dom';

/** Nodes added to one parent under one tag. */
export interface Batch {
  readonly parent: Node;
  readonly tag: string;
  readonly first: Element[];
  last: Element;
  count: number;
}

/** Attributes that say how an element is, or what it is called. */
const TELLING = new Set([
  'alt',
  'aria-checked',
  'aria-current',
  'aria-disabled',
  'aria-expanded',
  'aria-invalid',
  'aria-label',
  'aria-pressed',
  'aria-selected',
  'aria-valuenow',
  'aria-valuetext',
  'disabled',
  'open',
]);
const HIDING_STYLE = /display:\s*none|visibility:\s*hidden/i;
const ITEMS = new Set(['article', 'li', 'tr']);
const MOST_NODES = 200;
const MOST_REMOVED = 10;
/** Of one batch so many are kept from its beginning. */
export const KEPT_FIRST = 8;

export class Touched {
  /** The values that telling attributes had before. */
  readonly attributes = new Map<Element, Map<string, string | null>>();
  /** Elements whose own text is another; with what it was, where that is known. */
  readonly texts = new Map<Element, string | null>();
  /** Elements that were hidden by an attribute of their own, and are so no more. */
  readonly unhidden = new Set<Element>();
  /** Items of lists and tables that were taken out, with their old parents. */
  readonly removed = new Map<Element, Node>();
  readonly #batches = new Map<Node, Map<string, Batch>>();
  #batchCount = 0;

  note(record: MutationRecord): void {
    const { target } = record;
    if (record.type === 'attributes') {
      if (isElement(target)) this.#noteAttribute(target, record);
    } else if (record.type === 'characterData') {
      const parent = target.parentElement;
      if (parent) this.#noteText(parent, record.oldValue);
    } else this.#noteChildren(record);
  }

  *batches(): Iterable<Batch> {
    for (const tags of this.#batches.values()) yield* tags.values();
  }

  #noteAttribute(element: Element, { attributeName, oldValue }: MutationRecord): void {
    if (attributeName === null) return;
    const wasHidden =
      attributeName === 'hidden'
        ? oldValue !== null
        : attributeName === 'style' && oldValue !== null && HIDING_STYLE.test(oldValue);
    if (wasHidden && this.unhidden.size < MOST_NODES) this.unhidden.add(element);
    if (!TELLING.has(attributeName)) return;
    const known = this.attributes.get(element);
    if (known) {
      if (!known.has(attributeName)) known.set(attributeName, oldValue);
    } else if (this.attributes.size < MOST_NODES) {
      this.attributes.set(element, new Map([[attributeName, oldValue]]));
    }
  }

  #noteText(element: Element, before: string | null): void {
    if (this.texts.size < MOST_NODES && !this.texts.has(element)) this.texts.set(element, before);
  }

  #noteChildren({ target, addedNodes, removedNodes }: MutationRecord): void {
    let hasText = false;
    for (const node of addedNodes) {
      if (isElement(node)) this.#noteAdded(target, node);
      else if (isText(node)) hasText = true;
    }
    const [first, second] = removedNodes;
    if (hasText && isElement(target)) {
      const isWhole = first !== undefined && second === undefined && isText(first);
      this.#noteText(target, isWhole ? textData(first) : null);
    }
    for (const node of removedNodes) {
      if (this.removed.size >= MOST_REMOVED) break;
      if (isElement(node) && isItem(node)) this.removed.set(node, target);
    }
  }

  #noteAdded(parent: Node, element: Element): void {
    const tag = localName(element);
    let tags = this.#batches.get(parent);
    const batch = tags?.get(tag);
    if (batch) {
      if (batch.first.length < KEPT_FIRST) batch.first.push(element);
      batch.last = element;
      batch.count++;
      return;
    }
    if (this.#batchCount >= MOST_NODES) return;
    this.#batchCount++;
    if (!tags) {
      tags = new Map();
      this.#batches.set(parent, tags);
    }
    tags.set(tag, { parent, tag, first: [element], last: element, count: 1 });
  }
}

function isItem(element: Element): boolean {
  return (
    ITEMS.has(localName(element)) || /^(?:row|listitem)$/.test(attribute(element, 'role') ?? '')
  );
}
