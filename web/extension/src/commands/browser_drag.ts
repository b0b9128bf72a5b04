/**
 * Command `browser_drag`: drags an element to another or to a point, with the mouse.
 *
 * Works for pages that follow the mouse and for those with HTML drag and drop. Answers with what was
 * dragged and, if it was dragged to an element, with that.
 */

import { pointOf } from '../driver/input/gestures';
import { dragMouse } from '../driver/input/input-events';
import {
  aimAt,
  checkTarget,
  frameOffset,
  onElement,
  reportElement,
  type Target,
} from '../driver/page/elements';
import type { Point } from '../driver/page/frames';
import type { Page } from '../driver/page/page';
import type { ActedOn } from '../generated/command-results';
import { defineCommand } from './define-command';

export default defineCommand('browser_drag', async (page, args) => {
  const from = { ref: args.ref, selector: args.selector };
  const to = { ref: args.toRef, selector: args.toSelector };
  const start = pointOf(args);
  const end = pointOf({ x: args.toX, y: args.toY });
  if (start === undefined) checkTarget(from, 'ref, selector or x and y');
  if (end === undefined) checkTarget(to, 'toRef, toSelector or toX and toY');
  let target: ActedOn | undefined;
  const report = await page.act(async (session) => {
    const aimed = start === undefined ? await aimAt(page, from, false) : undefined;
    const armed = aimed?.armed ?? (await page.armTop());
    const goal: Centre = end === undefined ? await centre(page, to) : { point: end };
    target = goal.element;
    // Finding the goal may have scrolled, so the start is looked up last.
    const begin = start ?? (await centre(page, from, aimed?.point)).point;
    const acted = dragMouse(session, begin, goal.point);
    return {
      acted,
      inSteps: true,
      armed,
      ...(aimed === undefined ? {} : { element: aimed.element }),
    };
  });
  return target === undefined ? report : { ...report, target };
});

interface Centre {
  readonly point: Point;
  /** None for a point that was given. */
  readonly element?: ActedOn;
}

/** Returns an element and its middle, without scrolling if it is in view. */
async function centre(page: Page, target: Target, known?: Point): Promise<Centre> {
  const found = await onElement(page, target, (locator) => ({ method: 'box', args: [locator] }));
  const { x, y } = found.value;
  const element = reportElement(found, found.value.element);
  if (found.frameId !== 0) {
    const offset = await frameOffset(page, found.documentId, { x, y });
    return { element, point: { x: x + offset.x, y: y + offset.y } };
  }
  const isKnown = known !== undefined && Math.hypot(known.x - x, known.y - y) < 1;
  return { element, point: isKnown ? known : { x, y } };
}
