/**
 * A click on an element or a point, and the wait for its effect.
 */

import { invalid } from '../../command';
import type { ActionReport } from '../../generated/command-results';
import { aimAt, type Target } from '../page/elements';
import type { Point } from '../page/frames';
import type { Page } from '../page/page';
import { type Button, clickMouse } from './input-events';
import type { Modifier } from './keys';

export interface How {
  readonly button: Button;
  readonly clickCount: number;
  readonly modifiers: readonly Modifier[];
}

const METRICS_WITHIN_MS = 10_000;

export const PLAIN_CLICK: How = { button: 'left', clickCount: 1, modifiers: [] };

/** Clicks an element. */
export function clickElement(
  page: Page,
  target: Target,
  how: How,
  force: boolean,
): Promise<ActionReport> {
  return page.act(async (session) => {
    const { point, armed, element } = await aimAt(page, target, force);
    return { acted: clickMouse(session, point, how), armed, element };
  });
}

/** Clicks a point of the viewport. */
export function clickPoint(page: Page, point: Point, how: How): Promise<ActionReport> {
  return page.act(async (session) => {
    await checkInView(page, point);
    const armed = await page.armTop();
    return { acted: clickMouse(session, point, how), armed };
  });
}

/** Chrome takes a click beside the page without a word. */
export async function checkInView(page: Page, { x, y }: Point): Promise<void> {
  const metrics = await page.send('Page.getLayoutMetrics', undefined, METRICS_WITHIN_MS);
  const { clientWidth: width, clientHeight: height } = metrics.cssVisualViewport;
  if (x >= 0 && y >= 0 && x < width && y < height) return;
  throw invalid(
    `the point ${x}, ${y} is not in view: the page is ${width} wide and ${height} high`,
  );
}
