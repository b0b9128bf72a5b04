/**
 * Command `browser_screenshot`: a picture of what is in view, of the whole page or of an element.
 *
 * With references written on what can be acted on, if wanted; or only the word that it is unchanged.
 */

import { invalid } from '../command';
import { TOP } from '../driver/page/content-calls';
import {
  checkTarget,
  frameOffset,
  isTargeted,
  onElement,
  type Target,
} from '../driver/page/elements';
import type { Page } from '../driver/page/page';
import { type PictureArea, takeScreenshot } from '../driver/reading/screenshot';
import { defineCommand } from './define-command';

export default defineCommand('browser_screenshot', async (page, { ref, selector, ...wish }) => {
  const target = { ref, selector };
  checkVersion(wish.onlyIfChanged);
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
});

function checkVersion(version: string | undefined): void {
  if (version === undefined || /^[0-9a-f]{16}$/.test(version)) return;
  throw invalid(
    `onlyIfChanged must be the version of an earlier picture, not ${JSON.stringify(version)}; ` +
      'leave it out to get a picture and its version',
  );
}

// Serialised into the page: may not close over this module.
function scrollBack(to: { left: number; top: number }): void {
  scrollTo({ ...to, behavior: 'instant' });
}

async function areaOf(page: Page, target: Target): Promise<PictureArea> {
  const found = await onElement(page, target, (locator) => ({ method: 'box', args: [locator] }));
  const { x, y, width, height } = found.value;
  const offset =
    found.frameId === 0 ? { x: 0, y: 0 } : await frameOffset(page, found.documentId, { x, y });
  // The point is the middle of the box.
  return { x: x + offset.x - width / 2, y: y + offset.y - height / 2, width, height };
}
