/**
 * Command `browser_hover`: puts the mouse over an element and leaves it there.
 */

import { hoverElement } from '../driver/input/hover';
import { checkTarget } from '../driver/page/elements';
import { defineCommand } from './define-command';

export default defineCommand('browser_hover', async (page, target) => {
  checkTarget(target);
  return hoverElement(page, target);
});
