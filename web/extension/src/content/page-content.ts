/**
 * A page's content as one string: its text, or its HTML as it is now.
 *
 * The HTML is what the browser would write, but for the values of password fields.
 */

import type { FrameContent, Locator, Problem } from './api';
import { isProblem } from './describe';
import { attribute, documentElement, queryAll } from './dom';
import { framePath } from './frames';
import { textOf } from './page-text';
import { loadingMarkWithFrames } from './parsing';
import type { Targets } from './target';
import { MASK } from './text';
import { isPassword } from './values';

/** No more characters of one document travel to the worker. */
export const CONTENT_LIMIT = 4_000_000;

/** Reads an element or the whole document. */
export function contentOf(
  targets: Targets,
  { format, root }: { readonly format: 'html' | 'text'; readonly root?: Locator },
): FrameContent | Problem {
  const found = root === undefined ? documentElement(document) : targets.find(root);
  if (isProblem(found)) return found;
  const head = { url: location.href, path: framePath(), ...loadingMarkWithFrames() };
  if (format === 'html') return { ...head, frames: [], ...limited([htmlOf(found)]) };
  const { pieces, frames } = textOf(found);
  return { ...head, frames, ...limited(pieces) };
}

/** Returns what fits, and how many characters do not. */
function limited(pieces: readonly string[]): { pieces: string[]; leftOut: number } {
  let room = CONTENT_LIMIT;
  let leftOut = 0;
  const kept = pieces.map((piece) => {
    const part = piece.slice(0, room);
    room -= part.length;
    leftOut += piece.length - part.length;
    return part;
  });
  return { pieces: kept, leftOut };
}

function htmlOf(root: Element): string {
  const secrets = [root, ...queryAll(root, 'input')].map(
    (element) => isPassword(element) && (attribute(element, 'value') ?? '') !== '',
  );
  if (!secrets.includes(true)) return root.outerHTML;
  // In a document of its own: a copy of the page's would run the page's elements.
  const copy = document.implementation.createHTMLDocument().importNode(root, true);
  [copy, ...queryAll(copy, 'input')].forEach((element, at) => {
    if (secrets[at] === true) element.setAttribute('value', MASK);
  });
  return copy.outerHTML;
}
