/**
 * Command `browser_keyboard_press`: one key, with what is held down, where the focus is or for one
 * element, which then gets the focus first.
 */

import { heldModifiers } from '../driver/input/gestures';
import { pressKey } from '../driver/input/input-events';
import { parseStroke } from '../driver/input/keys';
import {
  checkTarget,
  isTargeted,
  onElement,
  reportElement,
  type Target,
} from '../driver/page/elements';
import type { Page, Performed } from '../driver/page/page';
import { defineCommand } from './define-command';

export default defineCommand('browser_keyboard_press', async (page, args) => {
  const stroke = parseStroke(args.key, heldModifiers(args));
  const target = { ref: args.ref, selector: args.selector };
  if (isTargeted(target)) checkTarget(target);
  return page.act(async (session) => {
    const place = isTargeted(target) ? await focus(page, target) : { armed: await page.armTop() };
    return { ...place, acted: pressKey(session, stroke) };
  });
});

async function focus(page: Page, target: Target): Promise<Performed> {
  const found = await onElement(page, target, (locator) => ({
    method: 'focusOn',
    args: [locator],
    arm: 'before',
  }));
  return { armed: found.where, element: reportElement(found, found.value) };
}
