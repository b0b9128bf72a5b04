/**
 * Command `browser_mouse_move`: moves the mouse to an element or a point.
 */

import { defineCommand } from '../command';
import { POINT, pointOf } from '../driver/input/gestures';
import { hoverElement, hoverPoint } from '../driver/input/hover';
import { checkTarget, TARGET } from '../driver/page/elements';

export default defineCommand({
  name: 'browser_mouse_move',
  effect: 'act',
  args: { ...TARGET, ...POINT },

  async run(page, args) {
    const point = pointOf(args);
    if (point !== undefined) return hoverPoint(page, point);
    const { ref, selector } = args;
    checkTarget({ ref, selector }, 'ref, selector or x and y');
    return hoverElement(page, { ref, selector });
  },
});
