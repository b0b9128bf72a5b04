/**
 * How things stood when counting began, as far as no record of a change would tell it.
 *
 * A class or a style sheet shows what was hidden; a field's value and check mark are no attributes;
 * what a closed dialog was called is gone with it. Looks at a limited number of elements, those
 * nearest to the top first, and keeps none of them alive.
 */

import { describe } from './describe';
import {
  body,
  firstElementChild,
  hasAny,
  isConnected,
  localName,
  matches,
  nextElementSibling,
  queryAll,
} from './dom';
import { Reading } from './reading';
import type { Refs } from './refs';
import { knownShadowRoots } from './shadow';
import { optionLabel } from './values';
import { isSetAside, isVisible, sightOf } from './visibility';

const MOST_LOOKS = 1000;
const MOST_HIDDEN = 300;
const MOST_FIELDS = 200;
const MOST_DIALOGS = 3;
const FIELDS = 'input:not([type=hidden i]), select, textarea';
const DIALOGS = 'dialog[open], [role=dialog i], [role=alertdialog i]';
const NEVER_SEEN = new Set(['link', 'meta', 'noscript', 'script', 'style', 'template']);
// What is in them is no element of the page's making, or is the list's own matter.
const CLOSED = new Set(['iframe', 'object', 'select', 'svg', 'video']);

/** What is in a field, and how it is. */
export interface FieldState {
  /** Null for what has none, and for a password. */
  readonly value: string | null;
  readonly checked: 'checked' | 'mixed' | 'unchecked' | null;
  readonly isDisabled: boolean;
  readonly isInvalid: boolean;
}

export interface Dialog {
  readonly element: WeakRef<Element>;
  readonly role: string;
  readonly name: string;
}

export class Before {
  readonly dialogs: readonly Dialog[];
  readonly #hidden: ReadonlyArray<WeakRef<Element>>;
  readonly #fields: Array<WeakRef<Element>> = [];
  readonly #states = new WeakMap<Element, FieldState>();

  constructor(refs: Refs) {
    const roots = [document, ...knownShadowRoots()];
    this.#hidden = findHidden(roots);
    this.dialogs = findDialogs(roots, refs);
    for (const root of roots) {
      for (const field of queryAll(root, FIELDS)) {
        if (this.#fields.length >= MOST_FIELDS) break;
        this.#fields.push(new WeakRef(field));
        const state = fieldState(field);
        if (state) this.#states.set(field, state);
      }
    }
  }

  /** Takes what is in a field for known: it was told otherwise. */
  know(field: Element): void {
    const was = this.#states.get(field);
    const is = was && fieldState(field);
    if (is) this.#states.set(field, { ...was, value: is.value, checked: is.checked });
  }

  /** What was hidden and is not now. */
  *shown(): Iterable<Element> {
    for (const reference of this.#hidden) {
      const element = reference.deref();
      if (element && isConnected(element) && !isUnseen(element, localName(element))) yield element;
    }
  }

  /** Fields that are still there, with how they were and how they are. */
  *fields(): Iterable<{ field: Element; was: FieldState; is: FieldState }> {
    for (const reference of this.#fields) {
      const field = reference.deref();
      const was = field && this.#states.get(field);
      const is = field && isConnected(field) && fieldState(field);
      if (was && is) yield { field, was, is };
    }
  }
}

/** Whether it is not rendered, fully transparent, or set aside. */
export function isUnseen(element: Element, tag: string): boolean {
  return (hasAny(element) && isSetAside(element)) || !isRendered(element, tag);
}

// What `checkVisibility` says no to may have no box of its own; if it has one, it is transparent.
function isRendered(element: Element, tag: string): boolean {
  if (check.call(element, WITH_OPACITY)) return true;
  return sightOf(element, tag) === 'shown' && !check.call(element, WITH_VISIBILITY);
}

const check = Element.prototype.checkVisibility;
const WITH_VISIBILITY = { visibilityProperty: true };
const WITH_OPACITY = { visibilityProperty: true, opacityProperty: true };

// Level by level: what pages open (menus, dialogs, messages) is mostly near the top.
function findHidden(roots: ReadonlyArray<Document | ShadowRoot>): Array<WeakRef<Element>> {
  const line: Element[] = [];
  const top = body(document);
  if (top) line.push(top);
  for (const root of roots)
    if (root instanceof ShadowRoot) pushChildren(line, root.firstElementChild);
  const hidden: Array<WeakRef<Element>> = [];
  for (let at = 0; at < line.length; at++) {
    const element = line[at];
    if (!element || hidden.length >= MOST_HIDDEN) break;
    const tag = localName(element);
    // What a dialog sets aside is no news when the dialog is gone.
    if (!isRendered(element, tag)) {
      if (!NEVER_SEEN.has(tag)) hidden.push(new WeakRef(element));
    } else if (!CLOSED.has(tag)) pushChildren(line, firstElementChild(element));
  }
  return hidden;
}

function pushChildren(line: Element[], first: Element | null): void {
  for (let child = first; child && line.length < MOST_LOOKS; child = nextElementSibling(child)) {
    line.push(child);
  }
}

function findDialogs(roots: ReadonlyArray<Document | ShadowRoot>, refs: Refs): Dialog[] {
  const found = roots
    .flatMap((root) => Array.from(queryAll(root, DIALOGS)).slice(0, 2 * MOST_DIALOGS))
    .filter((dialog) => isVisible(dialog) && !isSetAside(dialog))
    .slice(0, MOST_DIALOGS);
  if (found.length === 0) return [];
  const reading = new Reading();
  return found.map((dialog) => {
    const { role, name } = describe(dialog, refs, reading);
    return { element: new WeakRef(dialog), role, name };
  });
}

function fieldState(field: Element): FieldState | null {
  const isDisabled = matches(field, ':disabled');
  const isInvalid = matches(field, ':user-invalid');
  const plain = { checked: null, isDisabled, isInvalid };
  if (field instanceof HTMLSelectElement) {
    return { ...plain, value: Array.from(field.selectedOptions, optionLabel).join(', ') };
  }
  if (field instanceof HTMLTextAreaElement) return { ...plain, value: field.value };
  if (!(field instanceof HTMLInputElement)) return null;
  switch (field.type) {
    case 'checkbox':
    case 'radio': {
      const checked = field.checked ? 'checked' : 'unchecked';
      return { ...plain, value: null, checked: field.indeterminate ? 'mixed' : checked };
    }
    case 'button':
    case 'image':
    case 'reset':
    case 'submit':
      return { ...plain, value: null };
    case 'file':
      return { ...plain, value: Array.from(field.files ?? [], ({ name }) => name).join(', ') };
    case 'password':
      return { ...plain, value: null };
    default:
      return { ...plain, value: field.value };
  }
}
