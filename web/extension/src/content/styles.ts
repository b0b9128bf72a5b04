/**
 * What names need of CSS: line breaks between boxes, letter case, generated text, the pointer.
 *
 * Computed styles are the dearest thing in a walk, so answers are kept per kind of element (tag,
 * class, id, inline style, `hidden`, parent's class) for the length of one reading. Elements of one kind that
 * a position selector treats differently get the first one's answer.
 */

import { attribute, className, has, hasAny, parentElement } from './dom';
import { type Piece, parseContent } from './generated';

interface Generated {
  readonly pieces: readonly Piece[];
  readonly spaced: boolean;
}

/** What is known of one kind of element; filled when asked for. */
export interface Kind {
  display?: string;
  transform?: string;
  pointer?: boolean;
  before?: Generated | null;
  after?: Generated | null;
}

export class Styles {
  readonly #kinds = new Map<string, Kind>();

  /** Whether its text stands apart from what comes before and after. */
  isSpaced(element: Element, kind: Kind): boolean {
    return isApart(displayOf(element, kind));
  }

  /** Whether it parts what comes before from what comes after, though it has no text itself. */
  isParting(element: Element, kind: Kind): boolean {
    return !INLINE.test(displayOf(element, kind));
  }

  /** Whether it shows the hand; asked only below what does not. */
  hasPointer(element: Element, kind: Kind): boolean {
    if (kind.pointer === undefined) kind.pointer = getComputedStyle(element).cursor === 'pointer';
    return kind.pointer;
  }

  /** Returns text of the element as it is shown. */
  transform(element: Element, kind: Kind, text: string): string {
    kind.transform ??= getComputedStyle(element).textTransform;
    switch (kind.transform) {
      case 'uppercase':
        return text.toUpperCase();
      case 'lowercase':
        return text.toLowerCase();
      case 'capitalize':
        return text.replace(WORD_START, (letter) => letter.toUpperCase());
      default:
        return text;
    }
  }

  before(element: Element, kind: Kind): string {
    if (kind.before === undefined) kind.before = readGenerated(element, '::before');
    return kind.before ? written(element, kind.before) : '';
  }

  after(element: Element, kind: Kind): string {
    if (kind.after === undefined) kind.after = readGenerated(element, '::after');
    return kind.after ? written(element, kind.after) : '';
  }

  kindOf(element: Element, name: string): Kind {
    const parent = parentElement(element);
    let key = name;
    if (hasAny(element)) {
      key += `\n${className(element)}\n${attribute(element, 'id') ?? ''}`;
      key += `\n${attribute(element, 'style') ?? ''}\n${has(element, 'hidden')}`;
    }
    if (parent && hasAny(parent)) key += `\r${className(parent)}`;
    let kind = this.#kinds.get(key);
    if (!kind) {
      kind = {};
      this.#kinds.set(key, kind);
    }
    return kind;
  }
}

// A point or an apostrophe within a word does not begin another one.
const WORD_START = /(?<![\p{L}\p{N}\p{M}_]|\p{L}['’·])\p{L}/gu;
const INLINE = /^(?:inline|contents|none|ruby)/;

function displayOf(element: Element, kind: Kind): string {
  kind.display ??= getComputedStyle(element).display;
  return kind.display;
}

function isApart(display: string): boolean {
  return display !== 'inline' && !display.startsWith('ruby');
}

function readGenerated(element: Element, which: '::before' | '::after'): Generated | null {
  const style = getComputedStyle(element, which);
  const content = style.content;
  if (content === 'none' || content === 'normal' || content === '') return null;
  if (style.display === 'none' || style.visibility !== 'visible') return null;
  const { pieces, isAlternative } = parseContent(content, style.quotes);
  if (pieces.length === 0) return null;
  return { pieces, spaced: isAlternative || isApart(style.display) };
}

function written(element: Element, { pieces, spaced }: Generated): string {
  let text = '';
  for (const piece of pieces) {
    text += 'text' in piece ? piece.text : (attribute(element, piece.attribute) ?? '');
  }
  return spaced ? ` ${text} ` : text;
}
