/**
 * References written into a picture, on what can be acted on. The page itself is not touched.
 *
 * Labels are as large in a small picture as in a large one. One that would lie over another is put
 * somewhere else on its element's edge, or left out and counted.
 */

import type { Box } from '../../content/api';
import { askFrame, inSight, moved, placesOf } from '../page/frame-places';
import type { Page } from '../page/page';
import { numberDocuments, printReference } from '../tab/documents';

/** What a label says, and the element's box in the tab's viewport. */
export interface Label {
  readonly text: string;
  readonly box: Box;
}

const MOST_LABELS = 200;
const FONT = 'bold 11px "DejaVu Sans", Arial, sans-serif';
const HEIGHT = 13;
const PADDING = 2;
const COLOURS = ['#b3261e', '#1a4fbf', '#146c2e', '#6b1f9c', '#8a4b00', '#00626e'];

/** Finds what can be acted on in a part of the tab's viewport. */
export async function findLabels(page: Page, part: Box): Promise<Label[]> {
  const places = inSight(await placesOf(page, part));
  const numbered = await numberDocuments(page.tabId, places);
  const labels: Label[] = [];
  for (const [at, place] of places.entries()) {
    const document = numbered[at]?.n ?? 0;
    const marks = await askFrame(page, place, { method: 'marks', args: [place.clip] });
    for (const { ref, box } of marks ?? []) {
      const text = printReference({ document, element: ref });
      labels.push({ text, box: moved(box, place.offset) });
    }
  }
  return labels;
}

export interface Drawn {
  readonly drawn: number;
  readonly skipped: number;
}

/** Draws labels into a picture of a part of the viewport. */
export function drawLabels(
  context: OffscreenCanvasRenderingContext2D,
  labels: readonly Label[],
  place: (box: Box) => Box,
): Drawn {
  context.font = FONT;
  context.textBaseline = 'middle';
  const spots = spread(labels, context.canvas, place, (text) => context.measureText(text).width);
  // Lines first: a label is to be read whole.
  for (const { shape, colour } of spots) outline(context, shape, colour);
  for (const { spot, text, colour } of spots) write(context, spot, text, colour);
  return { drawn: spots.length, skipped: labels.length - spots.length };
}

/** A label with its place in the picture. */
export interface Spot {
  readonly text: string;
  /** The element. */
  readonly shape: Box;
  /** The label. */
  readonly spot: Box;
  readonly colour: string;
}

/** Gives each label a place where no other is; those that find none are left out. */
export function spread(
  labels: readonly Label[],
  picture: { readonly width: number; readonly height: number },
  place: (box: Box) => Box,
  widthOf: (text: string) => number,
): Spot[] {
  const spots: Spot[] = [];
  for (const { text, box } of labels) {
    if (spots.length === MOST_LABELS) break;
    const shape = place(box);
    const spot = spotsOn(shape, Math.ceil(widthOf(text)) + 2 * PADDING).find(
      (each) => isWithin(each, picture) && !spots.some((other) => overlaps(each, other.spot)),
    );
    if (spot === undefined) continue;
    spots.push({ text, shape, spot, colour: COLOURS[spots.length % COLOURS.length] ?? 'black' });
  }
  return spots;
}

/** Where a label may be, the best first: above, in the corners, beside, below. */
function spotsOn({ x, y, width, height }: Box, size: number): Box[] {
  const spot = (left: number, top: number) => ({
    x: Math.round(left),
    y: Math.round(top),
    width: size,
    height: HEIGHT,
  });
  // At the upper edge of the picture there is no room above.
  const above = y < HEIGHT ? Math.max(0, y - HEIGHT + 3) : y - HEIGHT + 3;
  const middle = y + (height - HEIGHT) / 2;
  return [
    spot(x, above),
    spot(x + width - size, above),
    spot(x + width, middle),
    spot(x - size, middle),
    spot(x, y),
    spot(x, y + height - 3),
  ];
}

function outline(context: OffscreenCanvasRenderingContext2D, box: Box, colour: string): void {
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.strokeRect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1);
}

function write(
  context: OffscreenCanvasRenderingContext2D,
  { x, y, width, height }: Box,
  text: string,
  colour: string,
): void {
  context.fillStyle = colour;
  context.fillRect(x, y, width, height);
  context.fillStyle = 'white';
  context.fillText(text, x + PADDING, y + height / 2 + 0.5);
}

function isWithin(
  { x, y, width, height }: Box,
  picture: { readonly width: number; readonly height: number },
): boolean {
  return x >= 0 && y >= 0 && x + width <= picture.width && y + height <= picture.height;
}

function overlaps(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}
