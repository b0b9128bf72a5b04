/**
 * Moving the mouse, and the wait for what that shows.
 */

import type { ActionReport } from '../../generated/command-results';
import { aimAt, type Target } from '../page/elements';
import type { Point } from '../page/frames';
import type { Page } from '../page/page';
import { moveMouse } from './input-events';

/** Moves the mouse over an element. */
export function hoverElement(page: Page, target: Target): Promise<ActionReport> {
  return page.act(async (session) => {
    const { point, armed, element } = await aimAt(page, target, false);
    return { acted: moveMouse(session, point), armed, element };
  });
}

/** Moves the mouse to a point of the viewport. */
export function hoverPoint(page: Page, point: Point): Promise<ActionReport> {
  return page.act(async (session) => {
    const armed = await page.armTop();
    return { acted: moveMouse(session, point), armed };
  });
}
