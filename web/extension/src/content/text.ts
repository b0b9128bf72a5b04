/**
 * Text as names need it: white space in order, no icon glyphs, no more than a limit.
 */

/** The longest name that is told. */
export const NAME_LIMIT = 500;
/** The longest text or value that is told. */
export const TEXT_LIMIT = 4000;
/** How much of a hostile text is looked at. */
const LOOK_LIMIT = 20_000;

/** The longest address of a link that is told. */
const URL_LIMIT = 300;

/** What stands for every password. */
export const MASK = '•••';

const UNTIDY = /[\t\n\v\f\r\u00a0\u2028\u2029]| {2}/;
const ICONS = /[\ue000-\uf8ff]/g;
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;
const HAS_ICONS = /[\ue000-\uf8ff]/;

/** Runs of white space as one space; icon glyphs out; ends untouched. */
export function tidy(raw: string): string {
  let text = raw.length > LOOK_LIMIT ? raw.slice(0, LOOK_LIMIT) : raw;
  if (HAS_ICONS.test(text)) text = text.replace(ICONS, '');
  return UNTIDY.test(text) ? text.replace(/\s+/g, ' ') : text;
}

/** A text as the hub shows it: tidy and trimmed, without what cannot be seen. */
export function asShown(raw: string): string {
  return tidy(raw.replace(UNSEEN, '')).trim();
}

/** What a text from a client may mean: itself, or what it says where the hub has escaped it. */
export function spellings(text: string): string[] {
  const plain = text.replace(/\\([[\]\\"])/g, '$1');
  return plain === text ? [text] : [text, plain];
}

/** A name: tidy, trimmed and cut. */
export function asName(raw: string): string {
  return cut(tidy(raw).trim(), NAME_LIMIT);
}

/** Cuts at a limit, never through a character, and shows that it did. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 2);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, limit - (isHalf ? 2 : 1))}…`;
}

/** Returns where a link leads: whole, without the name and password that may be in it. */
export function linkTarget(written: string, base: string): string {
  try {
    const url = new URL(written, base);
    if (url.username === '' && url.password === '') return cut(url.href, URL_LIMIT);
    url.username = '';
    url.password = '';
    return cut(url.href, URL_LIMIT);
  } catch {
    return cut(written, URL_LIMIT);
  }
}
