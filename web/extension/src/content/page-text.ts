/**
 * The text of a page as a reader sees it: lines between blocks, tabs between cells, nothing hidden.
 *
 * Goes through shadow trees and slots. Where a frame is, a mark is left for what the frame says of
 * itself. What is typed into fields is not text of the page and is not told; chosen options and the
 * words on buttons are.
 */

import { firstChild, isElement, isText, localName, nextSibling, textData } from './dom';
import { childIndex } from './frames';
import { shadowRootOf } from './shadow';
import { Styles } from './styles';
import { optionLabel } from './values';
import { sightOf } from './visibility';

/** The text between frames: `pieces` has one more than `frames`. */
export interface TextPieces {
  readonly pieces: readonly string[];
  /** Indexes of child windows, in the order of the text. */
  readonly frames: readonly number[];
}

const SILENT = new Set(['head', 'noscript', 'script', 'style', 'template', 'title', 'datalist']);
const CLOSED = new Set([
  'audio',
  'canvas',
  'embed',
  'img',
  'input',
  'object',
  'svg',
  'textarea',
  'video',
]);
const BUTTONS = new Set(['button', 'reset', 'submit']);

/** Reads the text of an element. */
export function textOf(root: Element): TextPieces {
  const reader = new TextReader();
  reader.read(root);
  return reader.end();
}

/** One thing on the stack: a node to enter, or what comes after one. */
type Step =
  | { readonly type: 'node'; readonly node: Node; readonly parent: Context }
  | { readonly type: 'gap'; readonly gap: string };

interface Context {
  readonly element: Element;
  readonly isShown: boolean;
  readonly keepsSpace: boolean;
}

class TextReader {
  readonly #styles = new Styles();
  readonly #pieces: string[] = [];
  readonly #frames: number[] = [];
  #written: string[] = [];
  /** Line breaks that wait for the next word; nothing at the start of a piece. */
  #gap = '';
  #endsInSpace = true;

  read(root: Element): void {
    const outside = { element: root, isShown: true, keepsSpace: false };
    // A stack of our own: depth is no danger.
    const stack: Step[] = [{ type: 'node', node: root, parent: outside }];
    for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
      if (step.type === 'gap') this.#leaveGap(step.gap);
      else if (isText(step.node)) this.#text(step.node, step.parent);
      else if (isElement(step.node)) stack.push(...this.#enter(step.node).reverse());
    }
  }

  end(): TextPieces {
    this.#closePiece();
    return { pieces: this.#pieces, frames: this.#frames };
  }

  #enter(element: Element): Step[] {
    const tag = localName(element);
    if (SILENT.has(tag)) return [];
    if (tag === 'br') {
      this.#gap = this.#gap.endsWith('\n\n') ? this.#gap : `${this.#gap}\n`;
      return [];
    }
    const sight = sightOf(element, tag);
    if (sight === 'gone') return [];
    const isShown = sight === 'shown';
    if (tag === 'iframe' || tag === 'frame') return this.#frame(element, isShown);
    const style = getComputedStyle(element);
    const gap = gapOf(style.display, tag);
    this.#leaveGap(gap);
    const after: Step[] = gap === '' ? [] : [{ type: 'gap', gap }];
    const words = ownWords(element, tag);
    if (words !== null) {
      if (isShown) this.#write(words);
      return after;
    }
    const keepsSpace = style.whiteSpaceCollapse?.startsWith('preserve') ?? false;
    const parent = { element, isShown, keepsSpace };
    const inner: Step[] = [];
    for (const node of childrenOf(element, tag)) inner.push({ type: 'node', node, parent });
    return [...inner, ...after];
  }

  #frame(element: Element, isShown: boolean): Step[] {
    const index = childIndex(element);
    if (!isShown || index === null || index < 0) return [];
    this.#closePiece();
    this.#frames.push(index);
    return [];
  }

  #text(node: Text, { element, isShown, keepsSpace }: Context): void {
    if (!isShown) return;
    const kind = this.#styles.kindOf(element, localName(element));
    const text = this.#styles.transform(element, kind, textData(node));
    if (keepsSpace) this.#write(text);
    else this.#write(text.replace(/[ \t\n\r\f]+/g, ' '), true);
  }

  #write(text: string, collapses = false): void {
    const starts = this.#gap !== '' || this.#endsInSpace;
    const words = collapses && starts ? text.trimStart() : text;
    if (words === '') return;
    if (this.#written.length > 0) this.#written.push(this.#gap);
    this.#gap = '';
    this.#written.push(words);
    this.#endsInSpace = /\s$/.test(words);
  }

  #leaveGap(gap: string): void {
    if (gap.length > this.#gap.length || this.#gap === '\t') this.#gap = gap;
  }

  #closePiece(): void {
    this.#pieces.push(this.#written.join('').replace(/ +(?=\n|$)/g, ''));
    this.#written = [];
    this.#gap = '';
    this.#endsInSpace = true;
  }
}

function gapOf(display: string, tag: string): string {
  if (tag === 'p') return '\n\n';
  if (display === 'table-cell') return '\t';
  if (display === 'contents' || display.startsWith('inline') || display.startsWith('ruby'))
    return '';
  return '\n';
}

/** The words of what has none inside that are ours to read; null where they are inside. */
function ownWords(element: Element, tag: string): string | null {
  if (element instanceof HTMLSelectElement) {
    const isOpen = element.multiple || element.size > 1;
    const shown = isOpen ? element.options : element.selectedOptions;
    return Array.from(shown, optionLabel).join('\n');
  }
  if (element instanceof HTMLInputElement) return BUTTONS.has(element.type) ? element.value : '';
  return CLOSED.has(tag) ? '' : null;
}

function* childrenOf(element: Element, tag: string): Iterable<Node> {
  if (element instanceof HTMLSlotElement) {
    const assigned = element.assignedNodes();
    if (assigned.length > 0) {
      yield* assigned;
      return;
    }
  }
  const from = firstChild(shadowRootOf(element, tag) ?? element);
  for (let child = from; child !== null; child = nextSibling(child)) yield child;
}
