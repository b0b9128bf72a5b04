/**
 * Command `browser_mouse_click`: a trusted click on an element or at a point.
 *
 * The element is scrolled into view and must be what a user would hit there, unless forced.
 */

import { boolean, defineCommand, integer, oneOf, optional, string } from '../command';
import { clickElement, clickPoint } from '../driver/input/clicks';
import { heldModifiers, MODIFIER_ARGS, POINT, pointOf } from '../driver/input/gestures';
import { checkTarget, TARGET } from '../driver/page/elements';

export default defineCommand({
  name: 'browser_mouse_click',
  effect: 'act',
  args: {
    ...TARGET,
    text: optional(string()),
    ...POINT,
    button: optional(oneOf('left', 'middle', 'right'), 'left'),
    clickCount: optional(integer({ least: 1, most: 3 }), 1),
    ...MODIFIER_ARGS,
    force: optional(boolean(), false),
  },

  async run(page, args) {
    const { ref, selector, text, button, clickCount, force } = args;
    const how = { button, clickCount, modifiers: heldModifiers(args) };
    const point = pointOf(args);
    if (point !== undefined) return clickPoint(page, point, how);
    const target = { ref, selector, text };
    checkTarget(target, 'ref, selector, text or x and y');
    return clickElement(page, target, how, force);
  },
});
