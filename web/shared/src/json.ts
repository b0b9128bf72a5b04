/**
 * From values to JSON text that a hub accepts.
 *
 * A frame that the hub cannot read costs the connection, and a numbered one would be sent
 * again after each reconnect, for ever. So what the hub refuses is refused here, where the
 * caller can still be told: too large, too deep, not JSON. Reads nothing and sends nothing.
 */

/** A value that cannot be sent. */
export class PayloadError extends Error {
  override readonly name = 'PayloadError';
  readonly code: string;

  constructor(code: 'not_json' | 'too_large', message: string) {
    super(message);
    this.code = code;
  }
}

/** The largest state, event or other numbered message. */
export const LARGEST_NUMBERED = 4 * 1024 * 1024;
/** The largest result of a call; the hub's limit is 16 MiB for the frame around it. */
export const LARGEST_RESULT = 15 * 1024 * 1024;
// The hub reads 128 levels; a payload can lie a few levels deep within its frame.
const DEEPEST = 120;

/** Writes a value as JSON; nothing at all becomes `null`. */
export function toJson(value: unknown, largest: number): string {
  const json = stringify(value);
  checkJson(json, largest);
  return json;
}

/** Throws if a JSON text is more than a hub takes; returns its size in bytes. */
export function checkJson(json: string, largest: number): number {
  const { bytes, depth } = measure(json);
  if (bytes > largest) {
    throw new PayloadError('too_large', `${bytes} bytes, at most ${largest} can be sent`);
  }
  if (depth > DEEPEST) {
    throw new PayloadError('too_large', `${depth} levels deep, at most ${DEEPEST} can be sent`);
  }
  return bytes;
}

/** Writes a value as JSON without lone surrogates, which Rust's strings cannot hold. */
export function stringify(value: unknown): string {
  const json = tryStringify(value);
  // Well-formed pairs are written as they are: only a lone half appears as an escape.
  return json.includes('\\ud') ? json.replace(ESCAPED_HALF, replaceHalf) : json;
}

// An escaped backslash is matched too, and kept, lest its second half begin a wrong match.
const ESCAPED_HALF = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;

function replaceHalf(found: string): string {
  return found === '\\\\' ? found : '\ufffd';
}

function tryStringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it cannot be written';
    throw new PayloadError('not_json', `not JSON: ${why}`);
  }
}

function measure(json: string): { bytes: number; depth: number } {
  let bytes = json.length;
  let level = 0;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit > 0x7f) {
      bytes += extraBytes(unit);
    } else if (unit === BACKSLASH) {
      at++;
    } else if (unit === QUOTE) {
      quoted = !quoted;
    } else if (!quoted && (unit === BRACKET || unit === BRACE)) {
      depth = Math.max(depth, ++level);
    } else if (!quoted && (unit === BRACKET + 2 || unit === BRACE + 2)) {
      level--;
    }
  }
  return { bytes, depth };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
// Each closing bracket stands two places after its opening one.
const BRACKET = 0x5b;
const BRACE = 0x7b;

/** Returns how many bytes more than one a UTF-16 unit takes; a pair takes four in all. */
function extraBytes(unit: number): number {
  if (unit < 0x800) return 1;
  return unit >= 0xd800 && unit <= 0xdfff ? 1 : 2;
}
