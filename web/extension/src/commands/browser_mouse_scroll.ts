/**
 * Command `browser_mouse_scroll`: scrolls the page, or an element that scrolls.
 */

import { CommandError, invalid } from '../command';
import { isProblem, TOP } from '../driver/page/content-calls';
import { checkTarget, isTargeted, onElement, type Target, trouble } from '../driver/page/elements';
import type { Page } from '../driver/page/page';
import { defineCommand } from './define-command';

// About what three turns of a wheel do.
const STEP = 400;

const DIRECTIONS = {
  up: { deltaX: 0, deltaY: -STEP },
  down: { deltaX: 0, deltaY: STEP },
  left: { deltaX: -STEP, deltaY: 0 },
  right: { deltaX: STEP, deltaY: 0 },
} as const;

export default defineCommand(
  'browser_mouse_scroll',
  async (page, { ref, selector, deltaX, deltaY, direction }) => {
    const hasDelta = deltaX !== undefined || deltaY !== undefined;
    const target = { ref, selector };
    if (hasDelta && direction !== undefined) throw invalid('give deltaX and deltaY, or direction');
    const by = hasDelta
      ? { deltaX: deltaX ?? 0, deltaY: deltaY ?? 0 }
      : DIRECTIONS[direction ?? 'down'];
    if (isTargeted(target)) checkTarget(target);
    let moved: Place | undefined;
    const report = await page.act(async () => {
      const armed = await page.armTop();
      moved = await scroll(page, target, by, false);
      return { armed };
    });
    // Lists load more when their end is reached: where that is, is known only now. What was
    // scrolled may be gone by then.
    const now = await scroll(page, target, by, true).catch(() => moved);
    return { ...report, ...now };
  },
);

interface Delta {
  readonly deltaX: number;
  readonly deltaY: number;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly atEnd: boolean;
}

async function scroll(page: Page, target: Target, by: Delta, isLook: boolean): Promise<Place> {
  if (isTargeted(target)) {
    const found = await onElement(page, target, (locator) => ({
      method: 'scroll',
      args: [locator, by, isLook],
    }));
    return found.value;
  }
  const [answer] = await page.read({ where: TOP, method: 'scroll', args: [null, by, isLook] });
  if (answer === undefined) throw new CommandError('ELEMENT_NOT_FOUND', 'nothing to scroll');
  if (isProblem(answer.value)) throw trouble(answer.value, 1);
  return answer.value;
}
