/**
 * Command `browser_snapshot`: what is on the page, as roles, names, values and references.
 *
 * All frames and shadow roots; needs no debugger. Shaping it for a model is the hub's part.
 */

import { checkTarget, isTargeted } from '../driver/page/elements';
import { takeSnapshot } from '../driver/reading/snapshot';
import { defineCommand } from './define-command';

export default defineCommand('browser_snapshot', async (page, { ref, selector, ...wish }) => {
  const target = { ref, selector };
  if (!isTargeted(target)) return takeSnapshot(page, wish);
  checkTarget(target);
  return takeSnapshot(page, { ...wish, target });
});
