/**
 * What can be seen: whether an element is rendered, and whether it takes up room.
 *
 * `checkVisibility` is fast but says no to `display: contents`, options and areas; those are looked
 * at again. Ancestors are the caller's matter where it comes from above.
 */

import { attribute, closest, has, isTrue, localName, rectOf } from './dom';
import { flatParent } from './shadow';

/**
 * `shown`: it and its text. `unseen`: not itself, perhaps something in it (`visibility`).
 * `gone`: nothing of it.
 */
export type Sight = 'shown' | 'unseen' | 'gone';

const check = Element.prototype.checkVisibility;
const WITH_VISIBILITY = { visibilityProperty: true };
// Without a box of their own though their owner shows them.
const BOXLESS = new Set(['option', 'optgroup', 'area', 'map']);

export function sightOf(element: Element, name: string): Sight {
  return check.call(element, WITH_VISIBILITY) ? 'shown' : lookAgain(element, name);
}

function lookAgain(element: Element, name: string): Sight {
  const style = getComputedStyle(element);
  if (style.display === 'none' && name !== 'area') return 'gone';
  if (style.visibility !== 'visible') return 'unseen';
  if (style.display === 'contents') return isSkipped(element) ? 'gone' : 'shown';
  if (BOXLESS.has(name)) return 'shown';
  return closest(element, 'canvas') && name !== 'canvas' ? 'shown' : 'gone';
}

// In a subtree whose rendering is skipped (`content-visibility: hidden`): the next box knows.
function isSkipped(element: Element): boolean {
  let parent = flatParent(element);
  while (parent && getComputedStyle(parent).display === 'contents') parent = flatParent(parent);
  return parent !== null && !check.call(parent, {});
}

/** Whether assistive technology is told to leave it out, with all that is in it. */
export function isSetAside(element: Element): boolean {
  return isTrue(element, 'aria-hidden') || has(element, 'inert');
}

/** Whether a user sees it: rendered, visible and with a size. */
export function isVisible(element: Element): boolean {
  const name = localName(element);
  if (name === 'option' || name === 'optgroup') {
    const owner = closest(element, 'select');
    return owner !== null && isVisible(owner);
  }
  if (sightOf(element, name) !== 'shown') return false;
  const { width, height } = rectOf(element);
  if (width > 0 && height > 0) return true;
  return hasVisiblePart(element);
}

// A link around a floated image has no height and is seen all the same.
function hasVisiblePart(element: Element): boolean {
  if (element instanceof HTMLAreaElement) return attribute(element, 'shape') !== null;
  for (const part of boxesOf(element)) if (part.width > 0 && part.height > 0) return true;
  const range = new Range();
  range.selectNodeContents(element);
  for (const part of range.getClientRects()) if (part.width > 0 && part.height > 0) return true;
  return false;
}

const AROUND = 12;

/** Whether a box around it that has no room cuts it off, as in a folded part of a page. */
export function isCutOff(element: Element): boolean {
  let inner = element;
  for (let steps = 0; steps < AROUND; steps++) {
    const around = flatParent(inner);
    if (!around) return false;
    const { width, height } = rectOf(around);
    if ((width === 0 || height === 0) && cutsOff(around, inner)) return true;
    inner = around;
  }
  return false;
}

// What is placed elsewhere is not cut off by where it is written.
function cutsOff(around: Element, inner: Element): boolean {
  if (/absolute|fixed/.test(getComputedStyle(inner).position)) return false;
  const { display, overflowX, overflowY } = getComputedStyle(around);
  if (display === 'contents' || display === 'inline') return false;
  return overflowX !== 'visible' || overflowY !== 'visible';
}

function boxesOf(element: Element): DOMRectList {
  return Element.prototype.getClientRects.call(element);
}
