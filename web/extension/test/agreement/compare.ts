/**
 * Compares the two trees of a page, for role and name, element by element.
 *
 * Compared is what has a semantic role on either side; what is on one side only is wrong. White
 * space is collapsed and icon glyphs are taken out on both sides.
 */

import type { ChromeElement, ChromeTree } from './chrome-tree';
import type { OurNode, OurTree } from './walker-tree';

/** One element that at least one side tells. */
export interface Pair {
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly ours: OurNode | null;
  readonly chromes: ChromeElement | null;
}

/** Returns the elements with a semantic role, each with what either side says. */
export function pair(ours: OurTree, chromes: ChromeTree): Pair[] {
  const pairs: Pair[] = [];
  const left = new Map([...ours.nodes].filter(([, node]) => isSemantic(node.role)));
  for (const element of chromes.elements) {
    const { mark, tag, attributes } = element;
    const node = mark === null ? null : (left.get(mark) ?? null);
    if (mark !== null) left.delete(mark);
    const chromes = isSemantic(element.role) ? element : null;
    if (node || chromes) pairs.push({ tag, attributes, ours: node, chromes });
  }
  for (const [mark, node] of left) {
    const tag = chromes.tags.get(mark) ?? '<?>';
    pairs.push({ tag, attributes: new Map(), ours: node, chromes: null });
  }
  return pairs;
}

/** Whether both sides tell the element with the same role and name. */
export function agrees({ ours, chromes }: Pair): boolean {
  if (!ours || !chromes) return false;
  return ours.role === chromes.role && plain(ours.name) === plain(chromes.name);
}

/** White space collapsed, icon glyphs out. */
export function plain(name: string): string {
  return name
    .replace(/[\ue000-\uf8ff]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function isSemantic(role: string): boolean {
  return !PLAIN_ROLES.has(role);
}

// The first ones by definition; the others are names inside Chrome for what has no role in ARIA.
const PLAIN_ROLES = new Set([
  'generic',
  'none',
  'paragraph',
  'text',
  'Abbr',
  'DescriptionList',
  'Figcaption',
  'InlineTextBox',
  'LabelText',
  'LayoutTable',
  'LayoutTableCell',
  'LayoutTableRow',
  'Legend',
  'LineBreak',
  'MathMLFraction',
  'MathMLNumber',
  'RootWebArea',
  'Ruby',
  'StaticText',
  'SvgRoot',
]);
