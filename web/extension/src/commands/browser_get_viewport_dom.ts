/**
 * Command `browser_get_viewport_dom`: the elements that are in view, with their boxes.
 *
 * All frames and shadow trees; boxes are in the tab's viewport.
 */

import type { ViewData } from '../content/api';
import { TOP } from '../driver/page/content-calls';
import { askFrame, type FramePlace, inSight, moved, placesOf } from '../driver/page/frame-places';
import { numberDocuments, printReference } from '../driver/tab/documents';
import { defineCommand } from './define-command';

export default defineCommand(
  'browser_get_viewport_dom',
  async (page, { maxElements, includeHidden }) => {
    const [top] = await page.run(TOP, viewportOf, []);
    const places = inSight(await placesOf(page));
    const numbered = await numberDocuments(page.tabId, places);
    const elements: unknown[] = [];
    let count = 0;
    let isLoading = false;
    for (const [at, place] of places.entries()) {
      const options = { most: maxElements - elements.length, includeHidden };
      const view = await askFrame(page, place, { method: 'inView', args: [place.clip, options] });
      if (view === undefined) continue;
      count += view.count;
      isLoading ||= view.loading === true;
      const document = numbered[at]?.n ?? 0;
      elements.push(...view.elements.map((element) => writeElement(element, document, place)));
    }
    const left = count - elements.length;
    const loading = isLoading ? { loading: true } : {};
    return { viewport: top?.value, elements, elementCount: elements.length, left, ...loading };
  },
);

// Serialised into the page: may not close over this module.
function viewportOf() {
  const { scrollX, scrollY, innerWidth: width, innerHeight: height } = window;
  return { width, height, scrollX: Math.round(scrollX), scrollY: Math.round(scrollY) };
}

function writeElement(
  { ref, tag, role, name, text, box, interactive }: ViewData['elements'][number],
  document: number,
  { offset }: FramePlace,
) {
  const own = text === undefined ? {} : { text };
  const told = { ref: printReference({ document, element: ref }), tag, role, name, ...own };
  return { ...told, box: moved(box, offset), interactive };
}
