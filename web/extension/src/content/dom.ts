/**
 * The DOM as it is, whatever a page calls its fields.
 *
 * A form's controls and a document's images shadow built-in properties by their names, in our world
 * too (`<form><input name="attributes">`). Everything here reads through the prototypes. Nodes go
 * in, plain values come out; nothing here knows roles or names.
 */

function getter<T extends object, K extends keyof T>(prototype: T, key: K): (self: T) => T[K] {
  const get = Object.getOwnPropertyDescriptor(prototype, key)?.get;
  return get ? (self) => get.call(self) : (self) => self[key];
}

export const nodeType = getter(Node.prototype, 'nodeType');
export const firstChild = getter(Node.prototype, 'firstChild');
export const nextSibling = getter(Node.prototype, 'nextSibling');
export const parentNode = getter(Node.prototype, 'parentNode');
export const parentElement = getter(Node.prototype, 'parentElement');
export const isConnected = getter(Node.prototype, 'isConnected');
export const textContent = getter(Node.prototype, 'textContent');
export const textData = getter(CharacterData.prototype, 'data');

export const localName = getter(Element.prototype, 'localName');
export const namespace = getter(Element.prototype, 'namespaceURI');
export const firstElementChild = getter(Element.prototype, 'firstElementChild');
export const lastElementChild = getter(Element.prototype, 'lastElementChild');
export const childElementCount = getter(Element.prototype, 'childElementCount');
export const nextElementSibling = getter(Element.prototype, 'nextElementSibling');
export const previousElementSibling = getter(Element.prototype, 'previousElementSibling');
export const scrollLeft = getter(Element.prototype, 'scrollLeft');
export const scrollTop = getter(Element.prototype, 'scrollTop');
export const scrollWidth = getter(Element.prototype, 'scrollWidth');
export const scrollHeight = getter(Element.prototype, 'scrollHeight');
export const clientWidth = getter(Element.prototype, 'clientWidth');
export const clientHeight = getter(Element.prototype, 'clientHeight');
export const isContentEditable = getter(HTMLElement.prototype, 'isContentEditable');
export const innerText = getter(HTMLElement.prototype, 'innerText');
export const className = (element: Element) => attribute(element, 'class') ?? '';

export const documentElement = getter(Document.prototype, 'documentElement');
export const body = getter(Document.prototype, 'body');
export const title = getter(Document.prototype, 'title');
export const readyState = getter(Document.prototype, 'readyState');
export const scrollingElement = getter(Document.prototype, 'scrollingElement');
export const visibilityState = getter(Document.prototype, 'visibilityState');
const documentActive = getter(Document.prototype, 'activeElement');
const shadowActive = getter(ShadowRoot.prototype, 'activeElement');

const getAttribute = Element.prototype.getAttribute;
const hasAttribute = Element.prototype.hasAttribute;
const hasAttributes = Element.prototype.hasAttributes;
const matchesSelector = Element.prototype.matches;
const closestElement = Element.prototype.closest;
const boundingRect = Element.prototype.getBoundingClientRect;
const rootNode = Node.prototype.getRootNode;
const contains = Node.prototype.contains;
const comparePosition = Node.prototype.compareDocumentPosition;
const queryElement = Element.prototype.querySelectorAll;
const queryFragment = DocumentFragment.prototype.querySelectorAll;
const queryDocument = Document.prototype.querySelectorAll;
const byIdDocument = Document.prototype.getElementById;
const byIdFragment = DocumentFragment.prototype.getElementById;

export const ELEMENT = 1;
export const TEXT = 3;
export const HTML = 'http://www.w3.org/1999/xhtml';
export const SVG = 'http://www.w3.org/2000/svg';

export function isElement(node: Node): node is Element {
  return nodeType(node) === ELEMENT;
}

export function isText(node: Node): node is Text {
  const type = nodeType(node);
  return type === TEXT || type === 4;
}

export function attribute(element: Element, name: string): string | null {
  return getAttribute.call(element, name);
}

export function has(element: Element, name: string): boolean {
  return hasAttribute.call(element, name);
}

/** Most elements of a long table have none: one question instead of ten. */
export function hasAny(element: Element): boolean {
  return hasAttributes.call(element);
}

export function isTrue(element: Element, name: string): boolean {
  return getAttribute.call(element, name)?.toLowerCase() === 'true';
}

export function matches(element: Element, selector: string): boolean {
  return matchesSelector.call(element, selector);
}

export function closest(element: Element, selector: string): Element | null {
  return closestElement.call(element, selector);
}

export function rectOf(element: Element): DOMRect {
  return boundingRect.call(element);
}

export function scrollElement(element: Element, by: ScrollToOptions): void {
  const scrollBy: (by: ScrollToOptions) => void = Element.prototype.scrollBy;
  scrollBy.call(element, by);
}

/** A shadow root or the document; for what is connected. */
export function rootOf(node: Node): Document | ShadowRoot {
  const root = rootNode.call(node);
  return root instanceof ShadowRoot ? root : document;
}

/** Whether `inner` is in `outer`, in the same tree; an element contains itself. */
export function holds(outer: Node, inner: Node): boolean {
  return contains.call(outer, inner);
}

/** Whether `one` comes before `other` in the document; what is around another comes first. */
export function precedes(one: Node, other: Node): boolean {
  return (comparePosition.call(one, other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

/** Throws `SyntaxError` for a selector that is none. */
export function queryAll(
  root: Document | ShadowRoot | Element,
  selector: string,
): NodeListOf<Element> {
  if (root instanceof Document) return queryDocument.call(root, selector);
  if (root instanceof ShadowRoot) return queryFragment.call(root, selector);
  return queryElement.call(root, selector);
}

export function byId(root: Document | ShadowRoot, id: string): Element | null {
  return root instanceof ShadowRoot ? byIdFragment.call(root, id) : byIdDocument.call(root, id);
}

export function activeElement(root: Document | ShadowRoot): Element | null {
  return root instanceof ShadowRoot ? shadowActive(root) : documentActive(root);
}

/** The elements that an attribute names by id, in its order; those that exist. */
export function referenced(element: Element, name: string): Element[] {
  const ids = attribute(element, name);
  if (!ids) return [];
  const root = rootOf(element);
  const found: Element[] = [];
  // A page may write thousands of ids; a name needs few.
  for (const id of ids.slice(0, 2000).split(/\s+/).slice(0, 50)) {
    const target = id === '' ? null : byId(root, id);
    if (target) found.push(target);
  }
  return found;
}
