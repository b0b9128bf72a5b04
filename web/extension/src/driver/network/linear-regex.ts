/**
 * Regular expressions of clients, tested in a time that grows with the text and never explodes.
 *
 * The browser's own engine tries one way after the other, and for some expressions there are more
 * ways than time: `(a+)+$` would hang the worker for good. Here all ways are followed at once, one
 * character after the other. Only whether something fits is told, not where. What needs to look back
 * (backreferences) or around (lookahead, lookbehind) is refused. What one character may be is left to
 * the browser's engine, which has nothing to try there.
 */

import { invalid } from '../../command';

const LONGEST_SOURCE = 1_000;
/** Steps of the compiled expression; `a{100}` is a hundred. */
const MOST_STEPS = 500;
/** Characters of a text that are looked at. */
export const LONGEST_TEXT = 5_000;

// What stands for one character. Without the flag u, braces after \\u and \\p are only braces.
const CLASS = /\[(?:\\.|[^\]\\])*\]/sy;
const ESCAPE = /\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|0[0-7]{0,2}|.)/sy;
const UNICODE_ESCAPE =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|[uPp]\{[^}]*\}|x[\da-fA-F]{2}|c[a-zA-Z]|.)/sy;

type Fits = (character: string) => boolean;
type Holds = (before: string | undefined, after: string | undefined) => boolean;

type Node =
  | { readonly type: 'character'; readonly fits: Fits }
  | { readonly type: 'edge'; readonly holds: Holds }
  | { readonly type: 'sequence'; readonly parts: readonly Node[] }
  | { readonly type: 'choice'; readonly ways: readonly Node[] }
  | { readonly type: 'repeat'; readonly part: Node; readonly least: number; readonly most: number };

type State =
  | { readonly type: 'character'; readonly fits: Fits; readonly next: State }
  | { readonly type: 'edge'; readonly holds: Holds; readonly next: State }
  | { readonly type: 'fork'; readonly next: State[] }
  | { readonly type: 'end' };

/** Reads an expression; throws `INVALID_ARGUMENT` that names the argument. */
export function readRegex(name: string, source: string, flags: string): (text: string) => boolean {
  if (source.length > LONGEST_SOURCE) {
    const length = `${source.length} characters; at most ${LONGEST_SOURCE}`;
    throw invalid(`${name}: the regular expression has ${length}`);
  }
  const kept = flags.replace(/[dgy]/g, '');
  if (/[^imsu]/.test(kept)) {
    throw invalid(`${name}: a regular expression can have the flags i, m, s and u, not ${flags}`);
  }
  try {
    new RegExp(source, kept);
  } catch {
    throw invalid(
      `${name}: /${source}/ is no regular expression; without slashes it is a plain part`,
    );
  }
  const start = compile(name, new Parser(name, source, kept).whole());
  const isUnicode = kept.includes('u');
  return (text) => {
    const seen = text.slice(0, LONGEST_TEXT);
    return run(start, isUnicode ? [...seen] : seen.split(''), text.length > LONGEST_TEXT);
  };
}

/** Follows all ways through a text at once. */
function run(start: State, text: readonly string[], isCut: boolean): boolean {
  let now: Set<State> = new Set();
  for (let at = 0; at <= text.length; at++) {
    const [before, after] = [text[at - 1], text[at]];
    // What is cut off is there all the same: the end of what is looked at is not the text's.
    const reached = reach([...now, start], before, after ?? (isCut ? ' ' : undefined));
    if (reached === 'end') return true;
    now = new Set();
    if (after === undefined) continue;
    for (const state of reached) if (state.fits(after)) now.add(state.next);
  }
  return false;
}

type Waiting = Extract<State, { type: 'character' }>;

/** Returns where ways lead that need no character, or that one of them is at the end. */
function reach(
  from: State[],
  before: string | undefined,
  after: string | undefined,
): Waiting[] | 'end' {
  const waiting: Waiting[] = [];
  const seen = new Set<State>();
  for (let state = from.pop(); state !== undefined; state = from.pop()) {
    if (seen.has(state)) continue;
    seen.add(state);
    if (state.type === 'end') return 'end';
    if (state.type === 'character') waiting.push(state);
    else if (state.type === 'fork') from.push(...state.next);
    else if (state.holds(before, after)) from.push(state.next);
  }
  return waiting;
}

function compile(name: string, whole: Node): State {
  let steps = 0;
  const build = (node: Node, next: State): State => {
    // Counts what makes no state too: nothing can be repeated a million times.
    if (++steps > MOST_STEPS) throw tooMuch(name);
    switch (node.type) {
      case 'character':
        return { type: 'character', fits: node.fits, next };
      case 'edge':
        return { type: 'edge', holds: node.holds, next };
      case 'sequence':
        return node.parts.reduceRight((rest, part) => build(part, rest), next);
      case 'choice':
        return { type: 'fork', next: node.ways.map((way) => build(way, next)) };
      case 'repeat':
        return repeat(node, next);
      default:
        return node satisfies never;
    }
  };
  const repeat = ({ part, least, most }: Extract<Node, { type: 'repeat' }>, next: State): State => {
    let rest: State = next;
    if (most === Infinity) {
      const loop: State = { type: 'fork', next: [next] };
      loop.next.push(build(part, loop));
      rest = loop;
    } else {
      for (let more = least; more < most; more++) {
        rest = { type: 'fork', next: [next, build(part, rest)] };
      }
    }
    for (let must = 0; must < least; must++) rest = build(part, rest);
    return rest;
  };
  return build(whole, { type: 'end' });
}

/** Reads what the browser's engine has found to be an expression. */
class Parser {
  readonly #name: string;
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(name: string, source: string, flags: string) {
    this.#name = name;
    this.#source = source;
    this.#flags = flags;
  }

  /** Reads up to a closing bracket or the end. */
  whole(): Node {
    const ways: Node[][] = [[]];
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#take(/\|/y) !== undefined) ways.push([]);
      else ways.at(-1)?.push(this.#repeated());
    }
    const all = ways.map((parts): Node => only(parts) ?? { type: 'sequence', parts });
    return only(all) ?? { type: 'choice', ways: all };
  }

  #repeated(): Node {
    let node = this.#one();
    for (;;) {
      const count = this.#take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
      if (count === undefined) return node;
      node = { type: 'repeat', part: node, ...timesOf(count) };
    }
  }

  #one(): Node {
    if (this.#take(/\(\?(?:=|!|<=|<!)/y) !== undefined) throw this.#refused('looks around');
    if (this.#take(/\((?:\?:|\?<[^>]*>|(?!\?))/y) !== undefined) return this.#group();
    if (this.#take(/\(/y) !== undefined) throw this.#refused('changes its flags on the way');
    const edge = this.#take(/[$^]|\\[bB]/y);
    if (edge !== undefined) return { type: 'edge', holds: edgeOf(edge, this.#flags) };
    if (this.#take(/\\(?:[1-9]|k<)/y) !== undefined) throw this.#refused('refers back to a group');
    return { type: 'character', fits: fitsOf(this.#character(), this.#flags) };
  }

  #group(): Node {
    const inner = this.whole();
    this.#at++;
    return inner;
  }

  /** Reads what stands for one character: itself, an escape or a class. */
  #character(): string {
    const [escaped, itself] = this.#flags.includes('u')
      ? [UNICODE_ESCAPE, /./suy]
      : [ESCAPE, /./sy];
    return this.#take(CLASS) ?? this.#take(escaped) ?? this.#take(itself) ?? '';
  }

  /** Takes what fits here, if anything does. */
  #take(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.#at;
    const [taken] = sticky.exec(this.#source) ?? [];
    this.#at += taken?.length ?? 0;
    return taken;
  }

  #refused(what: string) {
    return invalid(
      `${this.#name}: the regular expression ${what}, which is not supported because it can take ` +
        'for ever; write it without',
    );
  }
}

/** Returns what a list has, if that is one thing. */
function only(nodes: readonly Node[]): Node | undefined {
  return nodes.length === 1 ? nodes[0] : undefined;
}

function timesOf(count: string): { least: number; most: number } {
  const [sign] = count;
  if (sign === '*') return { least: 0, most: Infinity };
  if (sign === '+') return { least: 1, most: Infinity };
  if (sign === '?') return { least: 0, most: 1 };
  const [, least = '', comma, most = ''] = /(\d+)(,?)(\d*)/.exec(count) ?? [];
  if (comma === '') return { least: Number(least), most: Number(least) };
  return { least: Number(least), most: most === '' ? Infinity : Number(most) };
}

function edgeOf(edge: string, flags: string): Holds {
  const isLines = flags.includes('m');
  const isEnd = (character: string | undefined) =>
    character === undefined || (isLines && /[\n\r\u2028\u2029]/.test(character));
  const isWord = (character: string | undefined) => character !== undefined && /\w/.test(character);
  switch (edge) {
    case '^':
      return (before) => isEnd(before);
    case '$':
      return (_before, after) => isEnd(after);
    case '\\b':
      return (before, after) => isWord(before) !== isWord(after);
    default:
      return (before, after) => isWord(before) === isWord(after);
  }
}

/** Asks the browser's engine about one character, and remembers what it said. */
function fitsOf(source: string, flags: string): Fits {
  const one = new RegExp(`^(?:${source})$`, flags.replace('m', ''));
  const known = new Map<string, boolean>();
  return (character) => {
    const said = known.get(character) ?? one.test(character);
    known.set(character, said);
    return said;
  };
}

function tooMuch(name: string) {
  return invalid(
    `${name}: the regular expression is too large (more than ${MOST_STEPS} steps when its ` +
      'repetitions are written out); repeat less',
  );
}
