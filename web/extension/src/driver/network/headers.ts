/**
 * Headers of requests: what may be shown of them, and which may be set.
 *
 * Whoever reads a request must not come by what logs somebody in, so those values are masked
 * always. Password fields of a sent form are masked too, as in the page.
 */

import { invalid } from '../../command';

export const MASK = '•••';

const SECRET_HEADERS = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
  'x-api-key',
]);
// The browser writes these itself; with others the request would not arrive, or as something else.
const RESERVED_HEADERS =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|cookie2?|proxy-.*|sec-.*)$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,200}$/i;

const MOST_SHOWN = 100;
const LONGEST_SHOWN = 2_000;
const MOST_SET = 50;
const LONGEST_SET = 8_000;

/** Returns headers as they may be shown: secrets masked, long values cut. */
export function showHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const shown: Record<string, string> = {};
  const names = Object.keys(headers);
  for (const name of names.slice(0, MOST_SHOWN)) shown[name] = showValue(name, headers[name]);
  if (names.length > MOST_SHOWN) shown['…'] = `${names.length - MOST_SHOWN} more are left out`;
  return shown;
}

function showValue(name: string, value: unknown): string {
  if (SECRET_HEADERS.has(name.toLowerCase())) return MASK;
  const text = String(value);
  if (text.length <= LONGEST_SHOWN) return text;
  return `${text.slice(0, LONGEST_SHOWN)}… (${text.length - LONGEST_SHOWN} characters are left out)`;
}

/** Throws `INVALID_ARGUMENT` for headers that cannot be set; `isSent` for those of requests. */
export function checkHeaders(headers: Readonly<Record<string, string>>, isSent: boolean): void {
  const names = Object.keys(headers);
  if (names.length > MOST_SET) {
    throw invalid(`headers: at most ${MOST_SET} can be set, not ${names.length}`);
  }
  for (const name of names) {
    if (!HEADER_NAME.test(name))
      throw invalid(`headers: ${JSON.stringify(name)} is no header's name`);
    if (isSent && RESERVED_HEADERS.test(name)) {
      const advice = /^cookie/i.test(name)
        ? 'set cookies with set_cookie'
        : 'leave it out; the browser writes it itself';
      throw invalid(`headers: ${name} cannot be set; ${advice}`);
    }
    checkValue(name, headers[name] ?? '');
  }
}

function checkValue(name: string, value: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in it
  if (/[\u0000\r\n]/.test(value) || value.length > LONGEST_SET) {
    throw invalid(`headers: ${name} must be one line of at most ${LONGEST_SET} characters`);
  }
}

/** Masks the passwords of a form or JSON that was sent. */
export function maskPasswords(body: string): string {
  return body
    .replace(/((?:^|&)[^=&]*(?:passw|passphrase|pwd)[^=&]*=)[^&]+/gi, `$1${MASK}`)
    .replace(/("[^"]*(?:passw|passphrase|pwd)[^"]*"\s*:\s*)"(?:[^"\\]|\\.)*"/gi, `$1"${MASK}"`)
    .replace(
      /(name="[^"]*(?:passw|passphrase|pwd)[^"]*"\r?\n(?:[^\r\n]+\r?\n)*\r?\n)[^\r\n]*/gi,
      `$1${MASK}`,
    );
}
