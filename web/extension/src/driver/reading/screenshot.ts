/**
 * Pictures of a tab: what is in view, the whole page, or a part of it.
 *
 * A tab in the background draws because `debugger.ts` keeps a screencast running; without it every
 * second capture would hang. Every capture has a limit all the same. Pictures are scaled by the
 * browser and written again, smaller, only when they are over the wanted size or get labels. A
 * picture's version is a hash of what the browser sent, so that asking in the same way for the same
 * sight gives the same version, with labels or without. Frames of sites that the user keeps from
 * clients are not in it.
 */

import { CommandError } from '../../command';
import { decodeBytes, encodeBytes } from '../common/bytes';
import type { ResultOf } from '../common/protocol';
import { ignore } from '../common/time-limits';
import { withoutDenied } from '../page/denied-frames';
import type { Page } from '../page/page';
import { drawAnew, ProtocolFailure } from '../tab/debugger';
import { drawLabels, findLabels, type Label } from './labels';

export type Format = 'jpeg' | 'png' | 'webp';

/** In CSS pixels of the whole page. */
export interface PictureArea {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface ScreenshotWish {
  readonly format: Format;
  readonly quality: number;
  readonly maxWidth: number;
  readonly maxBytes: number;
  readonly fullPage: boolean;
  /** Writes references on what can be acted on. */
  readonly labels: boolean;
  /** The version of a picture that need not be sent again. */
  readonly onlyIfChanged: string | undefined;
  /** In the viewport; the part that is wanted. */
  readonly area?: PictureArea;
}

export interface Picture {
  readonly image: { readonly mimeType: string; readonly data: string };
  readonly width: number;
  readonly height: number;
  /** Picture pixels per CSS pixel. */
  readonly scale: number;
  readonly version: string;
  /** How many there are, and how many found no room or were too many. */
  readonly labels?: number;
  readonly labelsLeftOut?: number;
}

/** The picture looks as it did. */
export interface Unchanged {
  readonly unchanged: true;
  readonly version: string;
}

const CAPTURE_WITHIN_MS = 10_000;
// Rarely the frame that a capture waits for does not come by itself.
const NUDGE_AFTER_MS = 1_500;
// What is out of view is laid out and painted for the picture: a long page takes its time.
const WHOLE_WITHIN_MS = 20_000;
// The largest picture that GPUs and encoders take in one piece.
const LARGEST_SIDE = 16_000;

/** Takes a picture of a tab. */
export async function takeScreenshot(
  page: Page,
  wish: ScreenshotWish,
): Promise<Picture | Unchanged> {
  const metrics = await page.send('Page.getLayoutMetrics', undefined, CAPTURE_WITHIN_MS);
  const { area, isBeyond, view } = areaOf(wish, metrics);
  if (area.width < 1 || area.height < 1) throw failed('there is nothing to be seen there');
  const wanted = Math.min(1, wish.maxWidth / area.width, LARGEST_SIDE / area.height);
  const taken = await withoutDenied(page, () => capture(page, wish, area, wanted, isBeyond));
  const version = await versionOf(taken.bytes);
  if (version === wish.onlyIfChanged) return { unchanged: true, version };
  const inView = { ...area, x: area.x - view.x, y: area.y - view.y };
  const labels = wish.labels ? await findLabels(page, inView) : undefined;
  return { ...(await fit(taken, wish, inView, labels)), version };
}

async function versionOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

interface Taken {
  readonly data: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly format: Format;
}

async function capture(
  page: Page,
  { format, quality }: ScreenshotWish,
  area: PictureArea,
  scale: number,
  isBeyond: boolean,
): Promise<Taken> {
  const params = {
    format,
    ...(format === 'png' ? {} : { quality }),
    clip: { ...area, scale },
    captureBeyondViewport: isBeyond,
    optimizeForSpeed: true,
  };
  const session = await page.session();
  const nudging = setInterval(() => ignore(drawAnew(session)), NUDGE_AFTER_MS);
  try {
    const withinMs = isBeyond ? WHOLE_WITHIN_MS : CAPTURE_WITHIN_MS;
    const { data } = await page.send('Page.captureScreenshot', params, withinMs);
    if (data === '') throw failed('the browser sent an empty picture; try again');
    return { data, bytes: decodeBytes(data), format };
  } catch (error) {
    if (error instanceof ProtocolFailure) throw failed(error.reason);
    if (!(error instanceof CommandError) || error.code !== 'PAGE_UNRESPONSIVE') throw error;
    throw failed('the tab did not draw in time; bring it to the front with browser_tab_activate');
  } finally {
    clearInterval(nudging);
  }
}

interface PicturePlace {
  /** The wanted part, in page coordinates. */
  readonly area: PictureArea;
  /** Whether it is more than what is in view. */
  readonly isBeyond: boolean;
  /** Where the viewport begins, in page coordinates. */
  readonly view: { readonly x: number; readonly y: number };
}

function areaOf(
  { fullPage, area }: ScreenshotWish,
  metrics: ResultOf<'Page.getLayoutMetrics'>,
): PicturePlace {
  const { pageX, pageY, clientWidth: width, clientHeight: height } = metrics.cssVisualViewport;
  const view = { x: pageX, y: pageY };
  if (fullPage) return { area: { ...metrics.cssContentSize, x: 0, y: 0 }, isBeyond: true, view };
  if (area === undefined) return { area: { ...view, width, height }, isBeyond: false, view };
  const isBeyond =
    area.x < 0 || area.y < 0 || area.x + area.width > width || area.y + area.height > height;
  return { area: { ...area, x: area.x + pageX, y: area.y + pageY }, isBeyond, view };
}

type Fitted = Omit<Picture, 'version'>;

/** Makes a picture no wider and no larger than wanted, with its labels if there are any. */
async function fit(
  taken: Taken,
  wish: ScreenshotWish,
  area: PictureArea,
  labels: readonly Label[] | undefined,
): Promise<Fitted> {
  const type = `image/${taken.format}`;
  const bitmap = await createImageBitmap(new Blob([taken.bytes], { type }));
  try {
    const isRight =
      labels === undefined &&
      taken.bytes.length <= wish.maxBytes &&
      // Rounding makes a pixel more.
      bitmap.width <= wish.maxWidth + 1;
    if (isRight) return pictureOf(taken.data, type, bitmap.width, bitmap.height, area);
    return await redraw(bitmap, wish, area, labels);
  } finally {
    bitmap.close();
  }
}

async function redraw(
  bitmap: ImageBitmap,
  wish: ScreenshotWish,
  area: PictureArea,
  labels: readonly Label[] | undefined,
): Promise<Fitted> {
  let scale = Math.min(1, wish.maxWidth / bitmap.width);
  let quality = wish.quality / 100;
  let smallest = Infinity;
  while (scale * bitmap.width >= 1 && scale * bitmap.height >= 1) {
    const width = Math.max(1, Math.round(bitmap.width * scale));
    const height = Math.max(1, Math.round(bitmap.height * scale));
    const { canvas, told } = paint(bitmap, width, height, area, labels);
    const type = `image/${wish.format}`;
    const blob = await canvas.convertToBlob({ type, quality });
    smallest = Math.min(smallest, blob.size);
    if (blob.size <= wish.maxBytes) {
      return { ...pictureOf(encodeBytes(await blob.bytes()), type, width, height, area), ...told };
    }
    // First coarser, then smaller; a PNG can only become smaller.
    if (wish.format !== 'png' && quality > 0.5) quality -= 0.2;
    else scale *= Math.max(0.5, Math.min(0.9, Math.sqrt(wish.maxBytes / blob.size)));
  }
  throw new CommandError(
    'TOO_LARGE',
    `the picture has at least ${smallest} bytes, more than maxBytes ${wish.maxBytes}; allow more`,
  );
}

/** Draws the picture in a size, and its labels on top in theirs. */
function paint(
  bitmap: ImageBitmap,
  width: number,
  height: number,
  area: PictureArea,
  labels: readonly Label[] | undefined,
): { canvas: OffscreenCanvas; told: Pick<Picture, 'labels' | 'labelsLeftOut'> } {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  if (context === null) throw failed('the browser has no canvas to draw on; try again');
  context.drawImage(bitmap, 0, 0, width, height);
  if (labels === undefined) return { canvas, told: {} };
  const [across, down] = [width / area.width, height / area.height];
  const { drawn, skipped } = drawLabels(context, labels, (box) => ({
    x: Math.round((box.x - area.x) * across),
    y: Math.round((box.y - area.y) * down),
    width: Math.round(box.width * across),
    height: Math.round(box.height * down),
  }));
  return { canvas, told: { labels: drawn, labelsLeftOut: skipped } };
}

function pictureOf(
  data: string,
  mimeType: string,
  width: number,
  height: number,
  area: PictureArea,
): Fitted {
  const scale = Math.round((width / area.width) * 1000) / 1000;
  return { image: { mimeType, data }, width, height, scale };
}

function failed(message: string): CommandError {
  return new CommandError('SCREENSHOT_FAILED', message);
}
