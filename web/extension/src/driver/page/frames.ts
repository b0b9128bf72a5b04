/**
 * Where a frame lies in the tab's viewport.
 *
 * Each frame knows its place among its parent's windows and where its own child frames lie; adding
 * up along the path gives a frame's offset, across origins and processes. Frames turned or scaled
 * by CSS are not accounted for.
 */

import type { FrameGeometry } from '../../content/api';
import type { Answer } from './content-calls';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** One step down from a document to the frame element that holds the next. */
export interface FrameStep {
  readonly documentId: string;
  /** Which of the document's windows. */
  readonly index: number;
  /** The frame element's reference in that document. */
  readonly ref: number;
  readonly visible: boolean;
  readonly x: number;
  readonly y: number;
  readonly viewport: { readonly width: number; readonly height: number };
}

/** Returns the steps from the top down to a document; nothing if it is not among the answers. */
export function stepsTo(
  documentId: string,
  frames: ReadonlyArray<Answer<FrameGeometry>>,
): FrameStep[] | undefined {
  const target = frames.find((frame) => frame.documentId === documentId);
  if (target === undefined) return undefined;
  const steps: FrameStep[] = [];
  const { path } = target.value;
  // Frames in shadow trees have no index; two of them cannot be told apart.
  if (frameAt(frames, path) !== target) return undefined;
  for (const [depth, index] of path.entries()) {
    const parent = frameAt(frames, path.slice(0, depth));
    const children = parent?.value.children.filter((candidate) => candidate.index === index) ?? [];
    const [child, other] = children;
    if (parent === undefined || child === undefined || other !== undefined) return undefined;
    const { ref, visible, x, y } = child;
    steps.push({
      documentId: parent.documentId,
      index,
      ref,
      visible,
      x,
      y,
      viewport: parent.value.viewport,
    });
  }
  return steps;
}

/** Returns how far a document's own point lies from the tab's. */
export function offsetOf(steps: readonly FrameStep[]): Point {
  return steps.reduce((sum, { x, y }) => ({ x: sum.x + x, y: sum.y + y }), { x: 0, y: 0 });
}

/** Returns the first step whose frame does not show the point, which is of the last document. */
export function hidingStep(steps: readonly FrameStep[], point: Point): FrameStep | undefined {
  // From the inside out, the point becomes one of each parent's own.
  let { x, y } = point;
  let hiding: FrameStep | undefined;
  for (const step of [...steps].reverse()) {
    x += step.x;
    y += step.y;
    const { width, height } = step.viewport;
    if (x < 0 || y < 0 || x >= width || y >= height) hiding = step;
  }
  return hiding;
}

/** What covers something: its tag, and words that tell it from others. */
export interface Cover {
  readonly tag: string;
  readonly words: string;
}

/** Returns what covers a frame at a point of its parent's, or nothing; runs in the parent. */
export function coverOf(index: number, x: number, y: number): Cover | null {
  // Serialised into the page: may not close over this module.
  let hit = document.elementFromPoint(x, y);
  for (;;) {
    const root = hit instanceof HTMLElement ? chrome.dom.openOrClosedShadowRoot(hit) : null;
    const inner = root instanceof ShadowRoot ? root.elementFromPoint(x, y) : null;
    if (inner === null || inner === hit) break;
    hit = inner;
  }
  if (hit === null) return null;
  if (hit instanceof HTMLIFrameElement) {
    let at = window.length - 1;
    while (at >= 0 && window[at] !== hit.contentWindow) at--;
    if (at === index) return null;
  }
  if (hit.tagName === 'FRAME') return null;
  const id = hit.id === '' ? '' : `#${hit.id} `;
  const words = id + (hit.textContent ?? '').trim().slice(0, 60);
  return { tag: hit.tagName.toLowerCase(), words: words.trim() };
}

function frameAt(
  frames: ReadonlyArray<Answer<FrameGeometry>>,
  path: readonly number[],
): Answer<FrameGeometry> | undefined {
  const found = frames.filter(
    ({ value }) =>
      value.path.length === path.length && value.path.every((index, at) => index === path[at]),
  );
  return found.length === 1 ? found[0] : undefined;
}
