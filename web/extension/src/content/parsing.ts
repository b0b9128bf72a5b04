/**
 * What of this document is still to come: itself, while it is being parsed, and its frames' first
 * documents.
 */

import {
  attribute,
  body,
  firstChild,
  has,
  isElement,
  isText,
  localName,
  nextSibling,
  queryAll,
  readyState,
  textData,
} from './dom';

// What a body may hold without anything to see.
const UNSEEN = new Set(['link', 'meta', 'noscript', 'script', 'style', 'template']);

/** Returns what to add to an answer about a document that is still being parsed. */
export function loadingMark(): { loading?: true } {
  return readyState(document) === 'loading' ? { loading: true } : {};
}

/** Likewise, where an answer cannot say which frame is meant. */
export function loadingMarkWithFrames(): { loading?: true } {
  const frames = Array.from(queryAll(document, 'iframe'));
  return frames.some(awaitsDocument) ? { loading: true } : loadingMark();
}

/** Tells whether a frame still shows the empty document that stands in for the one it loads. */
export function awaitsDocument(element: Element): boolean {
  if (!(element instanceof HTMLIFrameElement) || has(element, 'srcdoc')) return false;
  // A frame that is loaded when it comes into view may never be.
  if (attribute(element, 'loading')?.toLowerCase() === 'lazy') return false;
  // Another origin's document cannot be seen from here: then it is there.
  if (element.contentDocument?.URL !== 'about:blank') return false;
  return /^https?:/i.test(element.src);
}

/** Returns how far the document is while it is being parsed; null once it is whole. */
export function parsing(): { isEmpty: boolean; ageMs: number } | null {
  if (readyState(document) !== 'loading') return null;
  return { isEmpty: !showsSomething(body(document)), ageMs: performance.now() };
}

function showsSomething(parent: HTMLElement | null): boolean {
  let node = parent === null ? null : firstChild(parent);
  while (node !== null) {
    if (isElement(node) && !UNSEEN.has(localName(node))) return true;
    if (isText(node) && textData(node).trim() !== '') return true;
    node = nextSibling(node);
  }
  return false;
}
