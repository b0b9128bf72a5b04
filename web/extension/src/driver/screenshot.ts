/**
 * Pictures of a tab: what is in view, the whole page, or a part of it.
 *
 * A tab in the background draws because `debugger.ts` keeps a screencast running; without it every
 * second capture would hang. Every capture has a limit all the same. Pictures are scaled by the
 * browser and written again, smaller, only when they are over the wanted size.
 */

import { CommandError } from '../command';
import { ProtocolFailure } from './debugger';
import { type Fields, fieldsOf, numberIn, textIn } from './fields';
import type { Page } from './page';

export type Format = 'jpeg' | 'png' | 'webp';

/** In CSS pixels of the whole page. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Wish {
  readonly format: Format;
  readonly quality: number;
  readonly maxWidth: number;
  readonly maxBytes: number;
  readonly fullPage: boolean;
  /** In the viewport; the part that is wanted. */
  readonly area?: Area;
}

export interface Picture {
  readonly image: { readonly mimeType: string; readonly data: string };
  readonly width: number;
  readonly height: number;
  /** Picture pixels per CSS pixel. */
  readonly scale: number;
}

const CAPTURE_WITHIN_MS = 3_000;
// The largest picture that GPUs and encoders take in one piece.
const LARGEST_SIDE = 16_000;

/** Takes a picture of a tab. */
export async function takeScreenshot(page: Page, wish: Wish): Promise<Picture> {
  const metrics = await page.send('Page.getLayoutMetrics', {}, CAPTURE_WITHIN_MS);
  const { area, isBeyond } = areaOf(wish, metrics);
  if (area.width < 1 || area.height < 1) throw failed('there is nothing to be seen there');
  const wanted = Math.min(1, wish.maxWidth / area.width, LARGEST_SIDE / area.height);
  const picture = await capture(page, wish, area, wanted, isBeyond);
  return fit(picture, wish, area);
}

interface Taken {
  readonly data: string;
  readonly format: Format;
}

async function capture(
  page: Page,
  { format, quality }: Wish,
  area: Area,
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
  try {
    const answer = await page.send('Page.captureScreenshot', params, CAPTURE_WITHIN_MS);
    return { data: textIn(answer, 'data') ?? '', format };
  } catch (error) {
    if (error instanceof ProtocolFailure) throw failed(error.reason);
    if (!(error instanceof CommandError) || error.code !== 'PAGE_UNRESPONSIVE') throw error;
    throw failed('the tab did not draw in time; bring it to the front with browser_tab_activate');
  }
}

/** Returns the wanted part in page coordinates, and whether it is more than what is in view. */
function areaOf({ fullPage, area }: Wish, metrics: Fields): { area: Area; isBeyond: boolean } {
  const view = fieldsOf(metrics.cssVisualViewport);
  const content = fieldsOf(metrics.cssContentSize);
  const pageX = numberIn(view, 'pageX') ?? 0;
  const pageY = numberIn(view, 'pageY') ?? 0;
  const width = numberIn(view, 'clientWidth') ?? 0;
  const height = numberIn(view, 'clientHeight') ?? 0;
  if (fullPage) {
    const whole = {
      x: 0,
      y: 0,
      width: numberIn(content, 'width') ?? width,
      height: numberIn(content, 'height') ?? height,
    };
    return { area: whole, isBeyond: true };
  }
  if (area === undefined) return { area: { x: pageX, y: pageY, width, height }, isBeyond: false };
  const isBeyond =
    area.x < 0 || area.y < 0 || area.x + area.width > width || area.y + area.height > height;
  return { area: { ...area, x: area.x + pageX, y: area.y + pageY }, isBeyond };
}

/** Makes a picture no wider and no larger than wanted. */
async function fit(taken: Taken, wish: Wish, area: Area): Promise<Picture> {
  if (taken.data === '') throw failed('the browser sent an empty picture; try again');
  const bytes = decode(taken.data);
  const type = `image/${taken.format}`;
  const bitmap = await createImageBitmap(new Blob([bytes], { type }));
  try {
    const isRight =
      taken.format === wish.format &&
      bytes.length <= wish.maxBytes &&
      // Rounding makes a pixel more.
      bitmap.width <= wish.maxWidth + 1;
    if (isRight) return pictureOf(taken.data, type, bitmap.width, bitmap.height, area);
    return await shrink(bitmap, wish, area);
  } finally {
    bitmap.close();
  }
}

async function shrink(bitmap: ImageBitmap, wish: Wish, area: Area): Promise<Picture> {
  let scale = Math.min(1, wish.maxWidth / bitmap.width);
  let quality = wish.quality / 100;
  let smallest = Infinity;
  while (scale * bitmap.width >= 1 && scale * bitmap.height >= 1) {
    const width = Math.max(1, Math.round(bitmap.width * scale));
    const height = Math.max(1, Math.round(bitmap.height * scale));
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0, width, height);
    const type = `image/${wish.format}`;
    const blob = await canvas.convertToBlob({ type, quality });
    smallest = Math.min(smallest, blob.size);
    if (blob.size <= wish.maxBytes) {
      return pictureOf(encode(await blob.bytes()), type, width, height, area);
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

function pictureOf(
  data: string,
  mimeType: string,
  width: number,
  height: number,
  area: Area,
): Picture {
  const scale = Math.round((width / area.width) * 1000) / 1000;
  return { image: { mimeType, data }, width, height, scale };
}

function decode(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

function encode(bytes: Uint8Array): string {
  let text = '';
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

function failed(message: string): CommandError {
  return new CommandError('SCREENSHOT_FAILED', message);
}
