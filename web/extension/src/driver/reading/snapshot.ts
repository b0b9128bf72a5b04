/**
 * Puts the frames' parts of a snapshot together.
 *
 * Each frame writes its nodes as JSON text. Here each node gets its document's number, and a child
 * frame's nodes come right after the node of its iframe, deeper by one. The texts are edited and
 * spliced, never parsed.
 */

import { RawJson } from '../../command';
import type { FrameSnapshot, Locator, Problem, SnapshotOptions } from '../../content/api';
import { ALL, type Answer, DocumentGone, isProblem, TOP, type Where } from '../page/content-calls';
import { onElement, type Target } from '../page/elements';
import type { Page } from '../page/page';
import { numberDocuments } from '../tab/documents';

export interface SnapshotWish {
  readonly maxNodes: number;
  readonly viewportOnly: boolean;
  /** Tells where links lead. */
  readonly links: boolean;
  readonly target?: Target;
}

/** One frame's part. */
export interface SnapshotPart {
  /** The document's number. */
  readonly n: number;
  readonly documentId: string;
  readonly snapshot: FrameSnapshot;
}

// Frames that come and go interrupt; in the end the top frame alone is better than nothing.
const TRIES = 4;

/** Takes the snapshot of a tab. */
export async function takeSnapshot(page: Page, wish: SnapshotWish): Promise<RawJson> {
  for (let tries = 1; ; tries++) {
    try {
      return await takeOnce(page, wish, tries < TRIES ? ALL : TOP);
    } catch (error) {
      if (!(error instanceof DocumentGone) || tries === TRIES) throw error;
    }
  }
}

async function takeOnce(page: Page, wish: SnapshotWish, where: Where): Promise<RawJson> {
  const { maxNodes, viewportOnly, links, target } = wish;
  const options: SnapshotOptions = { maxNodes, viewportOnly, links };
  if (target === undefined) {
    const parts = await takeParts(page, where, options);
    const top = parts.find(({ snapshot }) => snapshot.path.length === 0);
    if (top === undefined) throw new DocumentGone('the top frame did not answer');
    return compose(top.snapshot, top, parts, maxNodes);
  }
  const root = await takeRoot(page, target, options);
  const isAlone = root.snapshot.frames.length === 0;
  const parts = isAlone ? [] : await takeParts(page, where, options);
  const { title = '', url = '' } = await page.tab();
  return compose({ url, title }, root, parts, maxNodes);
}

async function takeParts(
  page: Page,
  where: Where,
  options: SnapshotOptions,
): Promise<SnapshotPart[]> {
  const answers = await page.call({ where, method: 'snapshot', args: [options] });
  return asParts(page, answers);
}

async function takeRoot(
  page: Page,
  target: Target,
  options: SnapshotOptions,
): Promise<SnapshotPart> {
  const place = await onElement(page, target, (locator) => ({ method: 'locate', args: [locator] }));
  const root: Locator = { by: 'ref', ref: place.value.ref };
  const answers = await page.call({
    where: place.where,
    method: 'snapshot',
    args: [{ ...options, root }],
  });
  const [part] = await asParts(page, answers);
  if (part === undefined) throw new DocumentGone('the element went away');
  return part;
}

async function asParts(
  page: Page,
  answers: ReadonlyArray<Answer<FrameSnapshot | Problem>>,
): Promise<SnapshotPart[]> {
  const numbered = await numberDocuments(page.tabId, answers);
  return answers.flatMap(({ value, documentId }, at) => {
    const n = numbered[at]?.n;
    return n === undefined || isProblem(value) ? [] : [{ n, documentId, snapshot: value }];
  });
}

/** Writes a snapshot from its root part and those that may be below it. */
export function compose(
  { url, title }: { readonly url: string; readonly title: string },
  root: SnapshotPart,
  parts: readonly SnapshotPart[],
  maxNodes: number,
): RawJson {
  const composer = new Composer(parts, maxNodes);
  const nodes = composer.write(root, null, 0);
  const { documents, truncated } = composer;
  const loading = root.snapshot.loading === true ? { loading: true } : {};
  const head = JSON.stringify({ format: 'snapshot.v1', url, title, ...loading, documents });
  return new RawJson(`${head.slice(0, -1)},"nodes":[${nodes}],"truncated":${truncated}}`);
}

interface DocumentEntry {
  readonly n: number;
  readonly documentId: string;
  readonly parent: number | null;
  readonly url: string;
}

class Composer {
  readonly documents: DocumentEntry[] = [];
  truncated = false;
  readonly #parts: readonly SnapshotPart[];
  #left: number;

  constructor(parts: readonly SnapshotPart[], maxNodes: number) {
    this.#parts = parts;
    this.#left = maxNodes;
  }

  /** Returns a part's nodes, its child frames' among them, without the outer brackets. */
  write(part: SnapshotPart, parent: number | null, depth: number): string {
    const { n, documentId, snapshot } = part;
    this.documents.push({ n, documentId, parent, url: snapshot.url });
    this.#left -= snapshot.count;
    this.truncated ||= snapshot.truncated;
    const text = renumber(snapshot.nodes.slice(1, -1), n, depth);
    let written = '';
    let from = 0;
    for (const frame of snapshot.frames) {
      const child = this.#childOf(part, frame.index);
      // Within a string the quote would be escaped, so this is the node and nothing else.
      const at = text.indexOf(`[${n},${frame.ref},${frame.depth + depth},"iframe"`, from);
      if (child === undefined || at < 0) continue;
      const end = endOfNode(text, at);
      const inner = this.#writeChild(child, n, frame.depth + depth + 1);
      const node = text.slice(at, end);
      const holder = child.snapshot.loading === true ? withFlag(node, 'loading') : node;
      written += text.slice(from, at) + holder + (inner === '' ? '' : `,${inner}`);
      from = end;
    }
    return written + text.slice(from);
  }

  #writeChild(child: SnapshotPart, parent: number, depth: number): string {
    if (child.snapshot.count <= this.#left) return this.write(child, parent, depth);
    this.truncated = true;
    return '';
  }

  #childOf({ snapshot }: SnapshotPart, index: number): SnapshotPart | undefined {
    const wanted = [...snapshot.path, index];
    const found = this.#parts.filter(
      ({ snapshot: { path } }) =>
        path.length === wanted.length && path.every((step, at) => step === wanted[at]),
    );
    // Frames in shadow trees have no index: better none than another's content.
    return found.length === 1 ? found[0] : undefined;
  }
}

// A node begins with two numbers and a word in quotes. No string can contain that: a quote within
// one is escaped, and the quote that ends one is not followed by a letter.
const NODE_START = /\[(\d+),(\d+),(?="[a-z])/gi;

/** Puts the document's number before each node and adds to its depth. */
function renumber(nodes: string, n: number, depth: number): string {
  if (depth === 0) return nodes.replace(NODE_START, `[${n},$1,$2,`);
  return nodes.replace(NODE_START, (_, ref, own) => `[${n},${ref},${Number(own) + depth},`);
}

/** Adds a flag to the text of one node. */
function withFlag(text: string, flag: string): string {
  const node: unknown = JSON.parse(text);
  if (!Array.isArray(node)) return text;
  const [n, ref, depth, role, name, value = null, flags] = node;
  const all = [...(Array.isArray(flags) ? flags : []), flag];
  return JSON.stringify([n, ref, depth, role, name, value, all]);
}

/** Returns where the array that begins at `at` ends. */
function endOfNode(text: string, at: number): number {
  let level = 0;
  let quoted = false;
  for (let place = at; place < text.length; place++) {
    const character = text[place];
    if (character === '\\') place++;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === '[') level++;
    else if (!quoted && character === ']' && --level === 0) return place + 1;
  }
  return text.length;
}
