/**
 * Command `browser_hover`: puts the mouse over an element and leaves it there.
 */

import { defineCommand } from '../command';
import { hoverElement } from '../driver/input/hover';
import { checkTarget, TARGET } from '../driver/page/elements';

export default defineCommand({
  name: 'browser_hover',
  effect: 'act',
  args: TARGET,

  async run(page, target) {
    checkTarget(target);
    return hoverElement(page, target);
  },
});
