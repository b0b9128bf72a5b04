/**
 * Elements as data: what matches a selector or a text, what is in view, what can be acted on.
 *
 * Boxes are in this frame's viewport; the worker adds the frame's own place.
 */

import type { Box, ElementData, Mark, Matches, Problem, ViewData } from './api';
import { describe, isProblem } from './describe';
import {
  attribute,
  documentElement,
  firstChild,
  isElement,
  isText,
  localName,
  nextSibling,
  queryAll,
  rectOf,
  textData,
} from './dom';
import { find, namesWith } from './find';
import { listens } from './flags';
import { labelsOf } from './names';
import { loadingMarkWithFrames } from './parsing';
import { Reading } from './reading';
import type { Refs } from './refs';
import { INTERACTIVE } from './role-tables';
import { allRoots, deepElementFromPoint, flatHolds, shadowRootOf } from './shadow';
import { cut, MASK, tidy } from './text';
import { isPassword } from './values';
import { isVisible, sightOf } from './visibility';
import { Walk } from './walker';

const TEXT = 200;
const ATTRIBUTES = 10;
/** Those that say most, in this order; others follow as the page wrote them. */
const FIRST =
  'id class name type href src alt title placeholder value for role aria-label data-testid'.split(
    ' ',
  );
const SKIPPED = new Set(
  'base br head link meta noscript script source style template title track wbr'.split(' '),
);

/** Finds all that match, and describes as many as wanted. */
export function query(
  refs: Refs,
  by: { readonly selector?: string; readonly text?: string },
  most: number,
): Matches | Problem {
  const found = by.selector === undefined ? byText(refs, by.text ?? '') : bySelector(by.selector);
  if (isProblem(found)) return found;
  const reading = new Reading();
  const elements = found.slice(0, most).map((element) => dataOf(element, refs, reading));
  return { elements, count: found.length, ...loadingMarkWithFrames() };
}

function bySelector(selector: string): Element[] | Problem {
  try {
    return allRoots().flatMap((root) => Array.from(queryAll(root, selector)));
  } catch (error) {
    return { problem: 'bad_selector', message: error instanceof Error ? error.message : selector };
  }
}

function byText(refs: Refs, text: string): Element[] {
  const named = namesWith(text, refs);
  if (named.length > 0) return named;
  const one = find({ by: 'text', text }, refs);
  return isProblem(one) ? [] : [one];
}

function dataOf(element: Element, refs: Refs, reading: Reading): ElementData {
  return {
    ...describe(element, refs, reading),
    text: cut(tidy(reading.readText(element, { reference: false })).trim(), TEXT),
    attributes: attributesOf(element),
    box: boxOf(element),
    visible: isVisible(element),
  };
}

function attributesOf(element: Element): Record<string, string> {
  const names = Element.prototype.getAttributeNames.call(element);
  const ordered = [...FIRST.filter((name) => names.includes(name)), ...names];
  const told: Record<string, string> = {};
  for (const name of new Set(ordered)) {
    if (Object.keys(told).length === ATTRIBUTES) break;
    told[name] = cut(attributeOf(element, name) ?? '', TEXT);
  }
  return told;
}

/** Returns an attribute; a password's value is masked. */
export function attributeOf(element: Element, name: string): string | null {
  const value = attribute(element, name);
  const isSecret = name.toLowerCase() === 'value' && value !== null && value !== '';
  return isSecret && isPassword(element) ? MASK : value;
}

function boxOf(element: Element): Box {
  const { left, top, width, height } = rectOf(element);
  const [x, y] = [Math.round(left), Math.round(top)];
  return { x, y, width: Math.round(width), height: Math.round(height) };
}

/** Describes the elements that lie in a part of the viewport, at most so many. */
export function inView(
  refs: Refs,
  clip: Box,
  { most, includeHidden }: { readonly most: number; readonly includeHidden: boolean },
): ViewData {
  const reading = new Reading();
  const elements: Array<ViewData['elements'][number]> = [];
  let count = 0;
  for (const element of elementsOf(documentElement(document))) {
    if (!(isVisible(element) ? meets(clip, boxOf(element)) : includeHidden)) continue;
    count++;
    if (elements.length === most) continue;
    const described = describe(element, refs, reading);
    const text = ownText(element);
    elements.push({
      ...described,
      ...(text === '' ? {} : { text }),
      box: boxOf(element),
      interactive: INTERACTIVE.has(described.role) || listens(element),
    });
  }
  return { elements, count, ...loadingMarkWithFrames() };
}

/** All elements in the order they are rendered, through shadow trees and slots. */
function* elementsOf(root: Element): Iterable<Element> {
  const stack: Node[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!isElement(node)) continue;
    const tag = localName(node);
    if (SKIPPED.has(tag)) continue;
    yield node;
    stack.push(...renderedChildren(node, tag).reverse());
  }
}

function renderedChildren(element: Element, tag: string): Node[] {
  const assigned = element instanceof HTMLSlotElement ? element.assignedNodes() : [];
  if (assigned.length > 0) return assigned;
  const children: Node[] = [];
  let child = firstChild(shadowRootOf(element, tag) ?? element);
  for (; child !== null; child = nextSibling(child)) children.push(child);
  return children;
}

/** The text that is the element's own and no child's. */
function ownText(element: Element): string {
  let text = '';
  for (let child = firstChild(element); child !== null; child = nextSibling(child)) {
    if (isText(child)) text += `${textData(child)} `;
    if (text.length > TEXT * 10) break;
  }
  return cut(tidy(text).trim(), TEXT);
}

/** Returns where that is which can be acted on, in a part of the frame. */
export function marks(refs: Refs, clip: Box): Mark[] {
  const walk = new Walk(
    new Reading(),
    { hidden: false, styled: true, reference: false },
    { refs, maxNodes: Number.POSITIVE_INFINITY, viewport: null, links: false },
  );
  const found: Mark[] = [];
  for (const { element, node } of walk.collectWithElements(documentElement(document))) {
    const [ref, , role, , , flags = []] = node;
    const isUsable = INTERACTIVE.has(role) ? role !== 'iframe' : flags.includes('clickable');
    if (ref === 0 || !isUsable || flags.includes('disabled')) continue;
    const shown = shownFor(element);
    const box = boxOf(shown);
    if (meets(clip, box) && isOnTop(shown, box)) found.push({ ref, box });
  }
  return found;
}

/** A control without a size of its own is used through its label. */
function shownFor(element: Element): Element {
  if (isVisible(element)) return element;
  for (const label of labelsOf(element) ?? []) if (isVisible(label)) return label;
  return element;
}

/** What lies outside of the viewport cannot be asked for; it is believed. */
function isOnTop(element: Element, { x, y, width, height }: Box): boolean {
  if (sightOf(element, localName(element)) !== 'shown' || width === 0 || height === 0) return false;
  const [middleX, middleY] = [x + width / 2, y + height / 2];
  const isAskable = middleX >= 0 && middleY >= 0 && middleX < innerWidth && middleY < innerHeight;
  if (!isAskable) return true;
  const hit = deepElementFromPoint(middleX, middleY);
  return hit === null || flatHolds(element, hit) || flatHolds(hit, element);
}

function meets(one: Box, other: Box): boolean {
  return (
    other.width > 0 &&
    other.height > 0 &&
    other.x < one.x + one.width &&
    other.x + other.width > one.x &&
    other.y < one.y + one.height &&
    other.y + other.height > one.y
  );
}
