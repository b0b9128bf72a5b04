/**
 * Command `browser_mouse_click`: a trusted click on an element or at a point.
 *
 * The element is scrolled into view and must be what a user would hit there, unless forced.
 */

import { clickElement, clickPoint } from '../driver/input/clicks';
import { heldModifiers, pointOf } from '../driver/input/gestures';
import { checkTarget } from '../driver/page/elements';
import { defineCommand } from './define-command';

export default defineCommand('browser_mouse_click', async (page, args) => {
  const { ref, selector, text, button, clickCount, force } = args;
  const how = { button, clickCount, modifiers: heldModifiers(args) };
  const point = pointOf(args);
  if (point !== undefined) return clickPoint(page, point, how);
  const target = { ref, selector, text };
  checkTarget(target, 'ref, selector, text or x and y');
  return clickElement(page, target, how, force);
});
