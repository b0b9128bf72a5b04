/**
 * From a locator to a point that hits the element: seen, enabled, standing still, not covered.
 *
 * Says why when there is none. Input itself is the debugger's matter.
 */

import type { Aim, Described, Locator, Problem } from './api';
import type { ChangeCounter } from './change-counter';
import { frame } from './clock';
import { describe, isProblem } from './describe';
import {
  clientHeight,
  clientWidth,
  closest,
  has,
  isConnected,
  localName,
  rectOf,
  scrollElement,
  scrollHeight,
  scrollLeft,
  scrollTop,
  scrollWidth,
} from './dom';
import { find } from './find';
import { labelsOf } from './names';
import type { Refs } from './refs';
import { uniqueSelector } from './selectors';
import { deepElementFromPoint, flatHolds, flatParent } from './shadow';
import { isDisabled } from './values';
import { isVisible } from './visibility';

const STILL_WITHIN_MS = 500;

export class Targets {
  readonly #refs: Refs;
  readonly #changes: ChangeCounter;
  /** Where things stood before the last `aim`. */
  #before: readonly Scrolled[] = [];

  constructor(refs: Refs, changes: ChangeCounter) {
    this.#refs = refs;
    this.#changes = changes;
  }

  find(locator: Locator): Element | Problem {
    return find(locator, this.#refs);
  }

  describe(element: Element): Described {
    return describe(element, this.#refs);
  }

  /** Describes what is acted on, with a selector for doing it again another time. */
  report(element: Element): Described {
    const described = this.describe(element);
    const selector = uniqueSelector(element);
    return selector === undefined ? described : { ...described, selector };
  }

  locate(locator: Locator): Described | Problem {
    const element = this.find(locator);
    return isProblem(element) ? element : this.describe(element);
  }

  async aim(locator: Locator, { force = false }: { force?: boolean }): Promise<Aim | Problem> {
    const named = this.find(locator);
    if (isProblem(named)) return named;
    const target = clickTarget(named);
    if (!target) return this.#hidden(named);
    if (!force && isDisabled(named)) return { problem: 'disabled', element: this.describe(named) };
    this.#before = scrollersAround(target);
    await this.#waitUntilStill(target);
    if (!isConnected(target)) return { problem: 'dead_ref', ref: this.#refs.of(named) };
    return this.#hit(named, target, force);
  }

  comeBack(): void {
    for (const { scroller, left, top } of this.#before) {
      const by = { left: left - scrollLeft(scroller), top: top - scrollTop(scroller) };
      if (by.left !== 0 || by.top !== 0) scrollElement(scroller, { ...by, behavior: 'instant' });
    }
    this.#before = [];
  }

  box(locator: Locator): Aim | Problem {
    const element = this.find(locator);
    if (isProblem(element)) return element;
    if (!isVisible(element)) return { problem: 'hidden', element: this.describe(element) };
    const { left, top, width, height } = rectOf(element);
    const [x, y] = [left + width / 2, top + height / 2];
    return { element: this.report(element), x, y, width, height };
  }

  #hidden(element: Element): Problem {
    const described = this.describe(element);
    if (localName(element) !== 'option') return { problem: 'hidden', element: described };
    const message =
      'an option of a drop-down list cannot be clicked; choose it with browser_select';
    return { problem: 'wrong_kind', element: described, message };
  }

  async #waitUntilStill(element: Element): Promise<void> {
    if (!isInView(element)) scrollTo(element);
    if (this.#changes.isStill()) return;
    const end = performance.now() + STILL_WITHIN_MS;
    let last = rectOf(element);
    while (performance.now() < end) {
      await frame();
      const now = rectOf(element);
      const stands =
        now.left === last.left &&
        now.top === last.top &&
        now.width === last.width &&
        now.height === last.height;
      if (stands) return;
      last = now;
    }
  }

  #hit(named: Element, target: Element, force: boolean): Aim | Problem {
    let point = hittingPoint(target, named);
    if (!point) {
      // What sticks to the edge of the viewport may cover it there and not in the middle.
      scrollTo(target);
      point = hittingPoint(target, named);
    }
    const { width, height } = rectOf(target);
    if (point) return { element: this.report(named), ...point, width, height };
    const middle = pointsOf(target)[0];
    if (!middle) return this.#hidden(named);
    if (force) return { element: this.report(named), ...middle, width, height };
    const cover = deepElementFromPoint(middle.x, middle.y);
    if (!cover) return this.#hidden(named);
    return {
      problem: 'covered',
      element: this.describe(named),
      by: this.describe(nameableAround(cover)),
    };
  }
}

// A control without a box is clicked through its label.
function clickTarget(element: Element): Element | null {
  if (isVisible(element)) return element;
  for (const label of labelsOf(element) ?? []) if (isVisible(label)) return label;
  return null;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function hittingPoint(target: Element, named: Element): Point | null {
  for (const point of pointsOf(target)) {
    const hit = deepElementFromPoint(point.x, point.y);
    if (hit && isHit(hit, target, named)) return point;
  }
  return null;
}

function isHit(hit: Element, target: Element, named: Element): boolean {
  if (flatHolds(target, hit)) return true;
  for (const label of labelsOf(named) ?? []) if (flatHolds(label, hit)) return true;
  const label = closest(target, 'label');
  if (label instanceof HTMLLabelElement && label.control && label.control === hit) return true;
  // An image map's areas have no boxes of their own.
  if (target instanceof HTMLAreaElement) return has(hit, 'usemap');
  // Text that lets the pointer through to what it is in.
  return flatHolds(hit, target) && getComputedStyle(target).pointerEvents === 'none';
}

// Inside the viewport, the middle first: a box of each line, then towards its corners.
function pointsOf(element: Element): Point[] {
  const boxes = Array.from(Element.prototype.getClientRects.call(element)).slice(0, 8);
  if (boxes.length === 0 || boxes.every(isEmpty)) boxes.unshift(innerBox(element));
  const points: Point[] = [];
  for (const share of [0.5, 0.2, 0.8]) {
    for (const box of boxes) {
      const left = Math.max(0, box.left);
      const top = Math.max(0, box.top);
      const right = Math.min(innerWidth, box.right);
      const bottom = Math.min(innerHeight, box.bottom);
      if (right - left <= 0 || bottom - top <= 0) continue;
      points.push({ x: left + (right - left) * share, y: top + (bottom - top) * share });
    }
  }
  return points;
}

function isEmpty(box: DOMRect): boolean {
  return box.width === 0 || box.height === 0;
}

function innerBox(element: Element): DOMRect {
  const range = new Range();
  range.selectNodeContents(element);
  return range.getBoundingClientRect();
}

interface Scrolled {
  readonly scroller: Element;
  readonly left: number;
  readonly top: number;
}

/** Returns what can be scrolled around an element, with where it stands. */
function scrollersAround(element: Element): Scrolled[] {
  const found: Scrolled[] = [];
  for (let current = flatParent(element); current !== null; current = flatParent(current)) {
    const isScroller =
      scrollHeight(current) > clientHeight(current) || scrollWidth(current) > clientWidth(current);
    if (!isScroller) continue;
    found.push({ scroller: current, left: scrollLeft(current), top: scrollTop(current) });
  }
  return found;
}

function isInView(element: Element): boolean {
  const { left, top, right, bottom } = rectOf(element);
  return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
}

function scrollTo(element: Element): void {
  Element.prototype.scrollIntoView.call(element, {
    block: 'center',
    inline: 'center',
    behavior: 'instant',
  });
}

// A backdrop or a wrapper says little; the nearest thing with an id, role or class says more.
function nameableAround(element: Element): Element {
  let current: Element | null = element;
  while (current) {
    if (has(current, 'role') || has(current, 'id') || localName(current).includes('-')) {
      return current;
    }
    current = flatParent(current);
  }
  return element;
}
