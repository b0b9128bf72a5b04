/**
 * A CSS selector for an element that matches it and nothing else in its document, right now.
 *
 * What the page means to last comes first: ids, test ids, names, labels; then a short path. Elements
 * of shadow trees and of frames have none, for plain CSS does not reach them from the top.
 */

import {
  attribute,
  localName,
  parentElement,
  previousElementSibling,
  queryAll,
  rootOf,
} from './dom';

const LONGEST = 300;
const STEPS = 12;
const TEST_IDS = ['data-testid', 'data-test-id', 'data-test', 'data-cy'];
// Numbers that frameworks count up: another visit has others.
const COUNTED = /\d{4}|:/;

/** Returns such a selector; nothing when there is none. */
export function uniqueSelector(element: Element): string | undefined {
  if (window !== window.parent || rootOf(element) instanceof ShadowRoot) return undefined;
  for (const selector of namedSelectors(element)) if (isUnique(selector, element)) return selector;
  return pathTo(element);
}

/** What the element says of itself, the most lasting first. */
function* namedSelectors(element: Element): Iterable<string> {
  const tag = CSS.escape(localName(element));
  const id = attribute(element, 'id') ?? '';
  if (id !== '' && !COUNTED.test(id)) yield `#${CSS.escape(id)}`;
  for (const name of TEST_IDS) yield* having('', element, name);
  for (const named of having(tag, element, 'name')) {
    yield named;
    if (isChoice(element)) yield* having(named, element, 'value');
  }
  yield* having(tag, element, 'aria-label');
  if (id !== '') yield `#${CSS.escape(id)}`;
}

function* having(start: string, element: Element, name: string): Iterable<string> {
  const value = attribute(element, name) ?? '';
  if (value !== '' && value.length <= LONGEST) yield `${start}[${name}=${quote(value)}]`;
}

function quote(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&');
  return `"${escaped.replace(/[\n\r\f]/g, (letter) => `\\${letter.charCodeAt(0).toString(16)} `)}"`;
}

function isChoice(element: Element): boolean {
  return (
    element instanceof HTMLInputElement && (element.type === 'radio' || element.type === 'checkbox')
  );
}

/** Goes up until what is written is unique: below a named ancestor, or from the root. */
function pathTo(element: Element): string | undefined {
  let path = '';
  let current: Element | null = element;
  for (let step = 0; current !== null && step < STEPS; step++) {
    for (const named of step === 0 ? [] : namedSelectors(current)) {
      const selector = `${named} > ${path}`;
      if (isUnique(selector, element)) return selector;
    }
    path = path === '' ? stepOf(current) : `${stepOf(current)} > ${path}`;
    if (isUnique(path, element)) return path;
    current = parentElement(current);
  }
  return undefined;
}

function stepOf(element: Element): string {
  const tag = localName(element);
  let place = 1;
  let sibling = previousElementSibling(element);
  for (; sibling !== null; sibling = previousElementSibling(sibling)) {
    if (localName(sibling) === tag) place++;
  }
  return `${CSS.escape(tag)}:nth-of-type(${place})`;
}

function isUnique(selector: string, element: Element): boolean {
  if (selector.length > LONGEST) return false;
  try {
    const found = queryAll(document, selector);
    return found.length === 1 && found[0] === element;
  } catch {
    return false;
  }
}
