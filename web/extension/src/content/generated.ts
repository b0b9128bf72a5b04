/**
 * The text that CSS generates, as computed `content` writes it. No DOM here.
 *
 * Pictures and counters have no text of their own and are left out.
 */

/** One piece of generated text: as written, or taken from an attribute. */
export type Piece = { readonly text: string } | { readonly attribute: string };

const TOKEN =
  /"((?:[^"\\]|\\.)*)"|attr\(\s*([\w-]+)[^)]*\)|(open-quote)|(close-quote)|(\/)|[\w-]+\([^)]*\)|\S+/g;

/** Reads a computed `content`; what follows a slash is its alternative and wins. */
export function parseContent(
  content: string,
  quotes = 'auto',
): { pieces: Piece[]; isAlternative: boolean } {
  const [opening, closing] = readQuotes(quotes);
  let pieces: Piece[] = [];
  let isAlternative = false;
  for (const [, text, name, open, close, slash] of content.slice(0, 2000).matchAll(TOKEN)) {
    if (slash !== undefined) {
      pieces = [];
      isAlternative = true;
    } else if (text !== undefined) pieces.push({ text: withoutEscapes(text) });
    else if (name !== undefined) pieces.push({ attribute: name });
    else if (open !== undefined) pieces.push({ text: opening });
    else if (close !== undefined) pieces.push({ text: closing });
  }
  return { pieces, isAlternative };
}

// Of the outermost level; how deep a quote is in others is not looked at.
function readQuotes(quotes: string): [string, string] {
  if (quotes === 'none') return ['', ''];
  const [opening, closing] = [...quotes.slice(0, 200).matchAll(/"((?:[^"\\]|\\.)*)"/g)];
  return [withoutEscapes(opening?.[1] ?? '“'), withoutEscapes(closing?.[1] ?? '”')];
}

function withoutEscapes(text: string): string {
  return text.replace(/\\([0-9a-f]{1,6})\s?|\\(.)/gi, (_, code?: string, letter?: string) => {
    if (code === undefined) return letter ?? '';
    const point = Number.parseInt(code, 16);
    return point > 0x10ffff ? '' : String.fromCodePoint(point);
  });
}
