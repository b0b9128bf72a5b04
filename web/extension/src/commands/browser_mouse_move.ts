/**
 * Command `browser_mouse_move`: moves the mouse to an element or a point.
 */

import { pointOf } from '../driver/input/gestures';
import { hoverElement, hoverPoint } from '../driver/input/hover';
import { checkTarget } from '../driver/page/elements';
import { defineCommand } from './define-command';

export default defineCommand('browser_mouse_move', async (page, args) => {
  const point = pointOf(args);
  if (point !== undefined) return hoverPoint(page, point);
  const { ref, selector } = args;
  checkTarget({ ref, selector }, 'ref, selector or x and y');
  return hoverElement(page, { ref, selector });
});
