/**
 * Where all frames of a tab lie, and which part of each can be seen, for questions about places.
 *
 * Nothing is scrolled. Frames whose place cannot be known (two in one shadow tree) are left out.
 */

import type { Box, FrameGeometry } from '../../content/api';
import {
  ALL,
  type Answer,
  type AnswerOf,
  type ContentCall,
  DocumentGone,
  type DocumentPlace,
  inDocument,
  type Method,
} from './content-calls';
import { type FrameStep, offsetOf, type Point, stepsTo } from './frames';
import type { Page } from './page';

export interface FramePlace extends DocumentPlace {
  /** Of the frame's own points, in the tab's viewport. */
  readonly offset: Point;
  /** What can be seen of it, in its own viewport; without a size if nothing. */
  readonly clip: Box;
}

/** Returns all frames, and what they show of a part of the tab's viewport; all of it if not said. */
export async function placesOf(page: Page, part?: Box): Promise<FramePlace[]> {
  const frames = await page.read({ where: ALL, method: 'geometry', args: [] });
  const top = frames.find(({ value }) => value.path.length === 0);
  const whole = part ?? { x: 0, y: 0, width: 0, height: 0, ...top?.value.viewport };
  return frames.flatMap((frame) => {
    const steps = stepsTo(frame.documentId, frames);
    if (steps === undefined || steps.some(({ visible }) => !visible)) return [];
    const clip = clipOf(frame, steps, whole);
    const { documentId, frameId } = frame;
    return [{ documentId, frameId, offset: offsetOf(steps), clip }];
  });
}

/** Returns the frames of which something can be seen. */
export function inSight(places: readonly FramePlace[]): FramePlace[] {
  return places.filter(({ clip }) => clip.width > 0 && clip.height > 0);
}

/** Asks the document of one frame; a child frame that is gone by now has no answer. */
export async function askFrame<M extends Method>(
  page: Page,
  place: FramePlace,
  call: Omit<ContentCall<M>, 'where'>,
): Promise<AnswerOf<M> | undefined> {
  try {
    const [answer] = await page.call({ ...call, where: inDocument(place) });
    return answer?.value;
  } catch (error) {
    if (error instanceof DocumentGone && place.frameId !== 0) return undefined;
    throw error;
  }
}

/** Returns a box of a frame as one of the tab's viewport. */
export function moved(box: Box, { x, y }: Point): Box {
  return { ...box, x: Math.round(box.x + x), y: Math.round(box.y + y) };
}

function clipOf(frame: Answer<FrameGeometry>, steps: readonly FrameStep[], part: Box): Box {
  let clip = part;
  steps.forEach(({ x, y }, at) => {
    const inner = steps[at + 1]?.viewport ?? frame.value.viewport;
    clip = intersectionOf({ ...clip, x: clip.x - x, y: clip.y - y }, { x: 0, y: 0, ...inner });
  });
  return clip;
}

function intersectionOf(one: Box, other: Box): Box {
  const x = Math.max(one.x, other.x);
  const y = Math.max(one.y, other.y);
  const right = Math.min(one.x + one.width, other.x + other.width);
  const bottom = Math.min(one.y + one.height, other.y + other.height);
  return { x, y, width: Math.max(0, right - x), height: Math.max(0, bottom - y) };
}
