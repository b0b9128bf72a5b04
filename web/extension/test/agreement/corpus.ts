/**
 * The pages on which the two trees are compared, in two sets.
 *
 * The walker may be corrected by what it gets wrong on `tuned` pages. The pages of `held-out` are
 * frozen (`held-out.sha256`) and nobody looks at their details while correcting: what is measured
 * there is an estimate for pages that nobody has seen.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

export const FOLDER = resolve('../crates/tabwire/tests/browser/pages/a11y');
export const SETS = ['tuned', 'held-out'] as const;
export type PageSet = (typeof SETS)[number];

/** What both sets must contain, and by which text in a page's source it is known. */
export const CONSTRUCTS: ReadonlyMap<string, RegExp> = new Map([
  ['roles in odd case', /\brole="?[a-z]*[A-Z]/],
  ['fallback roles', /\brole="[\w-]+\s+[\w-]+/],
  ['text from CSS', /::(?:before|after)\s*\{\s*content:\s*"/],
  ['alternative text in CSS', /content:[^;}]+ \/ "/],
  ['slots of open shadow trees', /shadowrootmode="open">(?:(?!<\/template>).)*<slot/s],
  ['slots of closed shadow trees', /shadowrootmode="closed">(?:(?!<\/template>).)*<slot/s],
  ['controls inside names', /<label[^>]*for=[^>]*>[^<]*<(?:input|select)/],
  ['references to what is hidden', /<(\w+)[^>]* id="?(\w+)"?[^>]* hidden|hidden[^>]* id="/],
  ['frames of other sites', /<iframe[^>]*data-path=/],
]);

/** The paths of a set's pages, below the folder. Frames are part of the pages that show them. */
export function pagesOf(set: PageSet): string[] {
  const names = readdirSync(join(FOLDER, set)).filter((name) => name.endsWith('.html'));
  return names.sort().map((name) => `${set}/${name}`);
}

/** The text of all pages of a set. */
export function sourceOf(set: PageSet): string {
  return pagesOf(set)
    .map((page) => readFileSync(join(FOLDER, page), 'utf8'))
    .join('\n');
}

/** The hashes of the held-out files, as `sha256sum` writes them. */
export function heldOutHashes(): string {
  const folder = join(FOLDER, 'held-out');
  const lines = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(FOLDER, join(entry.path, entry.name)))
    .sort()
    .map((path) => `${hashOf(join(FOLDER, path))}  ${path}\n`);
  return lines.join('');
}

/** The hashes as they were when the set was frozen. */
export function frozenHashes(): string {
  return readFileSync(join(FOLDER, 'held-out.sha256'), 'utf8');
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
