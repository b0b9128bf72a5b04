/**
 * Command `browser_query_selector`: the elements of all frames that match a selector or have a text.
 */

import type { ElementData, Matches } from '../content/api';
import { ALL, type Answer, isProblem } from '../driver/page/content-calls';
import { checkTarget, trouble } from '../driver/page/elements';
import { type FramePlace, moved, placesOf } from '../driver/page/frame-places';
import type { Page } from '../driver/page/page';
import { numberDocuments, printReference } from '../driver/tab/documents';
import { defineCommand } from './define-command';

const MOST = 50;

export default defineCommand('browser_query_selector', async (page, { selector, text, all }) => {
  checkTarget({ selector, text }, 'selector or text');
  const by = selector === undefined ? { text: text ?? '' } : { selector };
  const most = all ? MOST : 1;
  const answers = await page.read({ where: ALL, method: 'query', args: [by, most] });
  const found = matchesOf(answers);
  const elements = await writeElements(page, found, most);
  const count = found.reduce((sum, { value }) => sum + value.count, 0);
  const isLoading = answers.some(({ value }) => 'loading' in value);
  return { elements, count, ...(isLoading ? { loading: true } : {}) };
});

function matchesOf(answers: ReadonlyArray<Answer<Matches | { problem: string }>>) {
  const found: Array<Answer<Matches>> = [];
  for (const { value, ...place } of answers) {
    if (isProblem(value)) throw trouble(value, 1);
    if ('elements' in value && value.count > 0) found.push({ ...place, value });
  }
  return found;
}

async function writeElements(page: Page, found: ReadonlyArray<Answer<Matches>>, most: number) {
  const numbered = await numberDocuments(page.tabId, found);
  const isInFrames = found.some(({ frameId }) => frameId !== 0);
  const places = isInFrames ? await placesOf(page) : [];
  const all = found.flatMap(({ value, documentId, frameId }, at) => {
    const place = places.find((each) => each.documentId === documentId);
    const document = numbered[at]?.n ?? 0;
    return value.elements.map((element) => writeElement(element, document, frameId, place));
  });
  return all.slice(0, most);
}

function writeElement(
  { ref, role, name, tag, text, attributes, box, visible }: ElementData,
  document: number,
  frameId: number,
  place: FramePlace | undefined,
) {
  // A frame that is hidden has no place, so its boxes are nowhere either.
  const seen =
    frameId === 0 ? { box } : place === undefined ? {} : { box: moved(box, place.offset) };
  const told = { ref: printReference({ document, element: ref }), role, name, tag, text };
  return { ...told, attributes, ...seen, visible };
}
