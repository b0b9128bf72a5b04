/**
 * Which addresses are meant: a part of one, a pattern with `*`, or `/regex/flags`.
 *
 * A pattern means the whole address; one that begins with neither `*` nor a scheme may begin
 * anywhere in it. It also says what the debugger's own, coarser wildcards for it are, so that as
 * few requests as possible are stopped to be looked at.
 */

import { invalid } from '../../command';
import { readRegex } from './linear-regex';

export interface UrlPattern {
  /** As it was given. */
  readonly text: string;
  fits(url: string): boolean;
  /** In the debugger's wildcards: fits at least what `fits` does. */
  readonly wildcards: string;
}

const LONGEST_PATTERN = 2_000;

/** Reads what an argument means; throws `INVALID_ARGUMENT` that names it. */
export function readUrlPattern(name: string, text: string): UrlPattern {
  if (text === '' || text.length > LONGEST_PATTERN) {
    throw invalid(
      `${name} must be a part of an address, a pattern such as */api/*, or /regex/, of 1 to ` +
        `${LONGEST_PATTERN} characters`,
    );
  }
  const regex = /^\/(.+)\/([imsu]*)$/s.exec(text);
  if (regex !== null) return fromRegex(name, text, regex[1] ?? '', regex[2] ?? '');
  return text.includes('*') ? fromGlob(text) : fromPart(text);
}

function fromRegex(name: string, text: string, source: string, flags: string): UrlPattern {
  return { text, fits: readRegex(name, source, flags), wildcards: '*' };
}

function fromGlob(text: string): UrlPattern {
  const isWhole = text.startsWith('*') || /^[a-z][a-z0-9+.-]*:/i.test(text);
  const whole = isWhole ? text : `*${text}`;
  const parts = whole.split(/\*+/);
  return { text, fits: (url) => hasInOrder(url, parts), wildcards: escaped(whole) };
}

/**
 * Whether an address begins with the first part, ends with the last and has the others between, in
 * order. The earliest place is the right one for each, so that nothing is ever tried again.
 */
function hasInOrder(url: string, parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop() ?? '';
  if (!url.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = url.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return url.length - at >= last.length && url.endsWith(last);
}

function fromPart(text: string): UrlPattern {
  return { text, fits: (url) => url.includes(text), wildcards: `*${escaped(text)}*` };
}

function escaped(text: string): string {
  return text.replace(/[\\?]/g, '\\$&');
}
