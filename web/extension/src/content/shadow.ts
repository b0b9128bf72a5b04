/**
 * Shadow trees, open and closed: who has one, and the way through them down and up.
 *
 * `chrome.dom` opens closed roots too. Asking costs 3 µs per element, so only those are asked that
 * can be hosts.
 */

import { activeElement, isElement, localName, parentNode, queryAll } from './dom';

const HOSTS = new Set([
  'article',
  'aside',
  'blockquote',
  'body',
  'div',
  'footer',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'header',
  'main',
  'nav',
  'p',
  'section',
  'span',
]);

export function canHostShadow(name: string): boolean {
  return HOSTS.has(name) || name.includes('-');
}

const opener = typeof chrome === 'undefined' ? undefined : chrome.dom?.openOrClosedShadowRoot;

export function shadowRootOf(element: Element, name = localName(element)): ShadowRoot | null {
  if (!canHostShadow(name) || !(element instanceof HTMLElement)) return null;
  if (!opener) return element.shadowRoot;
  const root: unknown = opener(element);
  if (!(root instanceof ShadowRoot)) return null;
  if (!met.has(root)) {
    met.add(root);
    metInOrder.push(new WeakRef(root));
  }
  return root;
}

const met = new WeakSet<ShadowRoot>();
const metInOrder: Array<WeakRef<ShadowRoot>> = [];

/** Those met so far: watching is worth while there, searching for more is not. */
export function* knownShadowRoots(): Iterable<ShadowRoot> {
  for (const reference of metInOrder) {
    const root = reference.deref();
    if (root?.isConnected) yield root;
  }
}

/** The parent as it is rendered: the slot or the host, not the light tree. */
export function flatParent(node: Node): Element | null {
  if (isElement(node) || node instanceof Text) {
    const slot = assignedSlot(node);
    if (slot) return slot;
  }
  const parent = parentNode(node);
  if (parent instanceof ShadowRoot) return parent.host;
  return parent && isElement(parent) ? parent : null;
}

// `assignedSlot` hides slots of closed trees, so those are looked for from the host.
function assignedSlot(node: Element | Text): HTMLSlotElement | null {
  const parent = parentNode(node);
  if (!parent || !isElement(parent)) return null;
  const root = shadowRootOf(parent);
  if (!root) return null;
  for (const slot of queryAll(root, 'slot')) {
    if (slot instanceof HTMLSlotElement && slot.assignedNodes().includes(node)) return slot;
  }
  return null;
}

/** Whether `inner` is `outer` or in it, through slots and shadow roots. */
export function flatHolds(outer: Element, inner: Node): boolean {
  let current: Node | null = inner;
  while (current) {
    if (current === outer) return true;
    current = flatParent(current);
  }
  return false;
}

/** Every root of the document: itself, then all shadow roots from the outside in. */
export function allRoots(): Array<Document | ShadowRoot> {
  const roots: Array<Document | ShadowRoot> = [document];
  for (let at = 0; at < roots.length; at++) {
    const root = roots[at];
    if (!root) break;
    for (const element of queryAll(root, '*')) {
      const shadow = shadowRootOf(element);
      if (shadow) roots.push(shadow);
    }
  }
  return roots;
}

/** What the user sees focused, inside shadow trees too; null when it is nothing in particular. */
export function focusedElement(): Element | null {
  let focused = activeElement(document);
  while (focused) {
    const shadow = shadowRootOf(focused);
    const inner: Element | null = shadow ? activeElement(shadow) : null;
    if (!inner) break;
    focused = inner;
  }
  return focused && localName(focused) !== 'body' && localName(focused) !== 'html' ? focused : null;
}

/** The topmost element at a point of the viewport, inside shadow trees too. */
export function deepElementFromPoint(x: number, y: number): Element | null {
  let root: Document | ShadowRoot = document;
  let found: Element | null = null;
  for (;;) {
    const hit: Element | null = elementAt(root, x, y);
    if (!hit || hit === found) return found;
    found = hit;
    const inner = shadowRootOf(hit);
    if (!inner) return found;
    root = inner;
  }
}

const fromDocument = Document.prototype.elementFromPoint;

function elementAt(root: Document | ShadowRoot, x: number, y: number): Element | null {
  return root instanceof ShadowRoot ? root.elementFromPoint(x, y) : fromDocument.call(root, x, y);
}
