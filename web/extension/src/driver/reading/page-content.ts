/**
 * The content of a page or an element as one string, and the part of it that an answer holds.
 *
 * Texts of frames stand where the frames are. A cursor is a place in the string and a hash of all
 * of it, so that a page that has changed in between is noticed.
 */

import { invalid } from '../../command';
import type { FrameContent } from '../../content/api';
import { ALL, type Answer, DocumentGone, isProblem, TOP } from '../page/content-calls';
import { isTargeted, onElement, type Target } from '../page/elements';
import type { Page } from '../page/page';

export type ContentFormat = 'html' | 'text';

export interface Content {
  readonly text: string;
  readonly url: string;
  /** Characters that were too many to be looked at. */
  readonly leftOut: number;
  /** A document of it was still being parsed. */
  readonly loading: boolean;
}

/** Reads all of it. */
export async function readContent(
  page: Page,
  target: Target,
  format: ContentFormat,
): Promise<Content> {
  const root = isTargeted(target)
    ? await readElement(page, target, format)
    : await readTop(page, format);
  if (root.frames.length === 0) return compose(root, []);
  return compose(root, await page.read({ where: ALL, method: 'content', args: [{ format }] }));
}

async function readElement(
  page: Page,
  target: Target,
  format: ContentFormat,
): Promise<FrameContent> {
  const { value } = await onElement(page, target, (root) => ({
    method: 'content',
    args: [{ format, root }],
  }));
  return value;
}

async function readTop(page: Page, format: ContentFormat): Promise<FrameContent> {
  const [top] = await page.read({ where: TOP, method: 'content', args: [{ format }] });
  if (top === undefined || isProblem(top.value)) throw new DocumentGone('the page went away');
  return top.value;
}

/** Puts the frames' texts where the frames are. */
export function compose(root: FrameContent, answers: ReadonlyArray<Answer<unknown>>): Content {
  const frames = answers.map(({ value }) => value).filter(isContent);
  let { leftOut } = root;
  let loading = root.loading === true;
  const write = (content: FrameContent): string => {
    const parts = content.pieces.flatMap((piece, at) => {
      const index = content.frames[at];
      if (index === undefined) return [piece];
      const child = childOf(content, index, frames);
      if (child === undefined) return [piece];
      leftOut += child.leftOut;
      loading ||= child.loading === true;
      return [piece, write(child)];
    });
    return parts.filter((part) => part !== '').join('\n');
  };
  const text = write(root);
  return { text, url: root.url, leftOut, loading };
}

function isContent(value: unknown): value is FrameContent {
  return typeof value === 'object' && value !== null && 'pieces' in value;
}

function childOf(
  { path }: FrameContent,
  index: number,
  frames: readonly FrameContent[],
): FrameContent | undefined {
  const wanted = [...path, index];
  const found = frames.filter(
    (frame) => frame.path.length === wanted.length && frame.path.every((at, n) => at === wanted[n]),
  );
  return found.length === 1 ? found[0] : undefined;
}

/** A place in a content that was read before. */
export interface Cursor {
  readonly offset: number;
  readonly hash: string;
}

/** Reads a cursor as an answer gave it. */
export function parseCursor(text: string): Cursor {
  const match = /^(\d{1,9})-([0-9a-z]{1,7})$/.exec(text.trim());
  if (match?.[1] === undefined || match[2] === undefined) {
    throw invalid(`cursor ${JSON.stringify(text)} is none; pass what next was in the last answer`);
  }
  return { offset: Number(match[1]), hash: match[2] };
}

export interface ContentPart {
  readonly content: string;
  /** Of all of it. */
  readonly length: number;
  readonly next?: string;
  /** It is not what it was when the cursor was given. */
  readonly changed?: true;
}

/** Cuts the part at a cursor, at most so long and never through a character. */
export function partOf(text: string, cursor: Cursor | undefined, maxLength: number): ContentPart {
  const hash = hashOf(text);
  const from = cursor?.offset ?? 0;
  const to = endOf(text, from, maxLength);
  return {
    content: text.slice(from, to),
    length: text.length,
    ...(to < text.length ? { next: `${to}-${hash}` } : {}),
    ...(cursor !== undefined && cursor.hash !== hash ? { changed: true } : {}),
  };
}

function endOf(text: string, from: number, maxLength: number): number {
  const end = from + maxLength;
  const last = text.charCodeAt(end - 1);
  const isHalf = end < text.length && last >= 0xd800 && last <= 0xdbff;
  // One more rather than one less: a part of one character must still go on.
  return isHalf ? end + 1 : end;
}

/** FNV-1a: cheap, and enough to notice a change. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
