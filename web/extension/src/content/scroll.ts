/**
 * Scrolling by an amount: of the page, or of what scrolls around an element.
 */

import type { Locator, Problem } from './api';
import { isProblem } from './describe';
import {
  clientHeight,
  clientWidth,
  documentElement,
  scrollElement,
  scrollHeight,
  scrollingElement,
  scrollLeft,
  scrollTop,
  scrollWidth,
} from './dom';
import { flatParent } from './shadow';
import type { Targets } from './target';

interface Amount {
  readonly deltaX: number;
  readonly deltaY: number;
}

export function scroll(
  targets: Targets,
  locator: Locator | null,
  by: Amount,
  isLook = false,
): { x: number; y: number; atEnd: boolean } | Problem {
  const page = scrollingElement(document) ?? documentElement(document);
  let scroller: Element = page;
  if (locator) {
    const element = targets.find(locator);
    if (isProblem(element)) return element;
    scroller = scrollerAround(element, by) ?? page;
  }
  const how: ScrollToOptions = { left: by.deltaX, top: by.deltaY, behavior: 'instant' };
  if (!isLook) scrollElement(scroller, how);
  return { x: scrollLeft(scroller), y: scrollTop(scroller), atEnd: !canMove(scroller, by) };
}

// The nearest that scrolls this way at all; whether it still can is told by `atEnd`.
function scrollerAround(element: Element, by: Amount): Element | null {
  for (let current: Element | null = element; current; current = flatParent(current)) {
    const style = getComputedStyle(current);
    const vertical = by.deltaY !== 0 && scrollHeight(current) > clientHeight(current);
    const horizontal = by.deltaX !== 0 && scrollWidth(current) > clientWidth(current);
    const scrolls = (overflow: string) => overflow === 'auto' || overflow === 'scroll';
    if (vertical && scrolls(style.overflowY)) return current;
    if (horizontal && scrolls(style.overflowX)) return current;
  }
  return null;
}

function canMove(scroller: Element, { deltaX, deltaY }: Amount): boolean {
  const [left, top] = [Math.abs(scrollLeft(scroller)), scrollTop(scroller)];
  const restX = scrollWidth(scroller) - clientWidth(scroller) - left;
  const restY = scrollHeight(scroller) - clientHeight(scroller) - top;
  if (deltaY > 0 && restY > 1) return true;
  if (deltaY < 0 && top > 1) return true;
  if (deltaX > 0 && restX > 1) return true;
  return deltaX < 0 && left > 1;
}
