/**
 * Command `browser_screenshot`: a picture of what is in view, of the whole page or of an element.
 */

import { boolean, defineCommand, integer, invalid, oneOf, optional } from '../command';
import {
  checkTarget,
  frameOffset,
  isTargeted,
  onElement,
  TARGET,
  type Target,
} from '../driver/elements';
import { TOP } from '../driver/inject';
import type { Page } from '../driver/page';
import { type Area, takeScreenshot } from '../driver/screenshot';

export default defineCommand({
  name: 'browser_screenshot',
  effect: 'read',
  args: {
    ...TARGET,
    format: optional(oneOf('png', 'jpeg', 'webp'), 'jpeg'),
    quality: optional(integer({ least: 1, most: 100 }), 80),
    fullPage: optional(boolean(), false),
    maxWidth: optional(integer({ least: 16, most: 8_000 }), 1_280),
    maxBytes: optional(integer({ least: 1_000, most: 10_000_000 }), 500_000),
  },

  async run(page, { ref, selector, ...wish }) {
    const target = { ref, selector };
    if (!isTargeted(target)) return takeScreenshot(page, wish);
    checkTarget(target);
    if (wish.fullPage) throw invalid('give an element or fullPage, not both');
    // Attaching may change the size of the viewport, so the element is looked at afterwards.
    await page.session();
    const [top] = await page.run(TOP, () => ({ left: scrollX, top: scrollY }), []);
    const aimed = await onElement(page, target, (locator) => ({
      method: 'aim',
      args: [locator, { force: true }],
    }));
    try {
      return await takeScreenshot(page, { ...wish, area: await areaOf(page, target) });
    } finally {
      // A picture changes nothing: what was scrolled for it, in its frame and at the top, goes back.
      await page.call({ where: aimed.where, method: 'comeBack', args: [] });
      const was = top?.value;
      if (aimed.frameId !== 0 && was !== undefined) await page.run(TOP, scrollBack, [was]);
    }
  },
});

// Serialised into the page: may not close over this module.
function scrollBack(to: { left: number; top: number }): void {
  scrollTo({ ...to, behavior: 'instant' });
}

async function areaOf(page: Page, target: Target): Promise<Area> {
  const found = await onElement(page, target, (locator) => ({ method: 'box', args: [locator] }));
  const { x, y, width, height } = found.value;
  const offset =
    found.frameId === 0 ? { x: 0, y: 0 } : await frameOffset(page, found.documentId, { x, y });
  // The point is the middle of the box.
  return { x: x + offset.x - width / 2, y: y + offset.y - height / 2, width, height };
}
