/**
 * A click on an element or a point, and the wait for its effect.
 */

import { aimAt, type Target } from './elements';
import { type Button, clickMouse, type Point } from './input';
import type { Modifier } from './keys';
import type { Page, Report } from './page';

export interface How {
  readonly button: Button;
  readonly clickCount: number;
  readonly modifiers: readonly Modifier[];
}

export const PLAIN_CLICK: How = { button: 'left', clickCount: 1, modifiers: [] };

/** Clicks an element. */
export function clickElement(
  page: Page,
  target: Target,
  how: How,
  force: boolean,
): Promise<Report> {
  return page.act(async (session) => {
    const { point, armed, element } = await aimAt(page, target, force);
    return { acted: clickMouse(session, point, how), armed, element };
  });
}

/** Clicks a point of the viewport. */
export function clickPoint(page: Page, point: Point, how: How): Promise<Report> {
  return page.act(async (session) => {
    const armed = await page.armTop();
    return { acted: clickMouse(session, point, how), armed };
  });
}
