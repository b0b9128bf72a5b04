/**
 * One reading of the document: what all walks of one call share and may remember.
 *
 * Lives for one call; the page may change after it.
 */

import {
  attribute,
  closest,
  holds,
  isElement,
  localName,
  queryAll,
  referenced,
  rootOf,
} from './dom';
import type { NameSource, ReadText } from './names';
import { Roles } from './roles';
import { flatParent, focusedElement } from './shadow';
import { Styles } from './styles';
import { sightOf } from './visibility';
import { Walk } from './walker';

// A name inside a name inside a name: pages make circles of them.
const NESTING_LIMIT = 3;

export class Reading implements NameSource {
  readonly styles = new Styles();
  readonly roles = new Roles();
  readonly focused = focusedElement();
  readonly #owners = findOwners();
  readonly #modal = findModal();
  readonly #references = new Map<Element, string>();
  readonly #labels = new Map<Document | ShadowRoot, Map<Element, Element[]>>();
  #nesting = 0;

  /** Who shows the element as its own child, if not its parent. */
  ownerOf(element: Element): Element | undefined {
    return this.#owners.get(element);
  }

  get hasOwners(): boolean {
    return this.#owners.size > 0;
  }

  /** Whether a modal dialog keeps the user out of the element; the dialog's ancestors are told. */
  isBehindModal(element: Element): boolean {
    if (!this.#modal) return false;
    return !this.#modal.around.has(element) && !isIn(this.#modal.dialog, element);
  }

  /** Whether the element is around a modal dialog, so that its own text cannot be reached. */
  isAroundModal(element: Element): boolean {
    return this.#modal?.around.has(element) === true && element !== this.#modal.dialog;
  }

  labelsOf(control: Element): readonly Element[] {
    const root = rootOf(control);
    let labels = this.#labels.get(root);
    if (!labels) {
      labels = findLabels(root);
      this.#labels.set(root, labels);
    }
    return labels.get(control) ?? [];
  }

  readonly readText: ReadText = (element, { reference, except }) => {
    const known = except ? undefined : this.#references.get(element);
    if (known !== undefined) return known;
    if (this.#nesting >= NESTING_LIMIT) return '';
    this.#nesting++;
    const isRendered = sightOf(element, localName(element)) !== 'gone';
    const walk = new Walk(this, {
      hidden: reference && (!isRendered || isHiddenWhole(element)),
      styled: isRendered,
      reference,
      ...(except && { except }),
    });
    const text = walk.textOf(element);
    this.#nesting--;
    if (!except) this.#references.set(element, text);
    return text;
  };
}

// All at once: `control.labels` looks through the whole document, for each control again.
function findLabels(root: Document | ShadowRoot): Map<Element, Element[]> {
  const labels = new Map<Element, Element[]>();
  for (const label of queryAll(root, 'label')) {
    const control = label instanceof HTMLLabelElement ? label.control : null;
    if (!control) continue;
    const known = labels.get(control);
    if (known) known.push(label);
    else labels.set(control, [label]);
  }
  return labels;
}

function isIn(outer: Element, inner: Element): boolean {
  if (holds(outer, inner)) return true;
  let parent = flatParent(inner);
  while (parent) {
    if (parent === outer) return true;
    parent = flatParent(parent);
  }
  return false;
}

function isHiddenWhole(element: Element): boolean {
  if (sightOf(element, localName(element)) !== 'shown') return true;
  return closest(element, '[aria-hidden="true" i]') !== null;
}

function findOwners(): Map<Element, Element> {
  const owners = new Map<Element, Element>();
  for (const owner of queryAll(document, '[aria-owns]')) {
    for (const owned of referenced(owner, 'aria-owns')) {
      if (owners.has(owned) || holds(owned, owner) || owners.size > 1000) continue;
      if (!isCircle(owners, owner, owned)) owners.set(owned, owner);
    }
  }
  return owners;
}

// Whether the owner is, through other owners, in what it wants to own.
function isCircle(owners: Map<Element, Element>, owner: Element, owned: Element): boolean {
  let current: Element | null = owner;
  while (current) {
    if (current === owned) return true;
    current = owners.get(current) ?? flatParent(current);
  }
  return false;
}

interface Modal {
  readonly dialog: Element;
  readonly around: ReadonlySet<Element>;
}

function findModal(): Modal | null {
  const dialogs = queryAll(document, 'dialog:modal');
  const dialog = dialogs[dialogs.length - 1];
  if (!dialog) return null;
  const around = new Set<Element>([dialog]);
  for (let parent = flatParent(dialog); parent; parent = flatParent(parent)) around.add(parent);
  return { dialog, around };
}

/** Returns the children a parent claims by `aria-owns`. */
export function ownedBy(element: Element, reading: Reading): Element[] {
  if (attribute(element, 'aria-owns') === null) return [];
  return referenced(element, 'aria-owns').filter(
    (owned) => isElement(owned) && reading.ownerOf(owned) === element,
  );
}
