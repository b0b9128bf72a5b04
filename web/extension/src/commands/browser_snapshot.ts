/**
 * Command `browser_snapshot`: what is on the page, as roles, names, values and references.
 *
 * All frames and shadow roots; needs no debugger. Shaping it for a model is the hub's part.
 */

import { boolean, defineCommand, integer, optional } from '../command';
import { checkTarget, isTargeted, TARGET } from '../driver/page/elements';
import { takeSnapshot } from '../driver/reading/snapshot';

const MOST_NODES = 20_000;

export default defineCommand({
  name: 'browser_snapshot',
  effect: 'read',
  args: {
    ...TARGET,
    viewportOnly: optional(boolean(), false),
    links: optional(boolean(), false),
    maxNodes: optional(integer({ least: 1, most: MOST_NODES }), MOST_NODES),
  },

  async run(page, { ref, selector, ...wish }) {
    const target = { ref, selector };
    if (!isTargeted(target)) return takeSnapshot(page, wish);
    checkTarget(target);
    return takeSnapshot(page, { ...wish, target });
  },
});
