/**
 * Counts what was compared on a set of pages, and writes it down for people.
 */

import { agrees, type Pair } from './compare';
import { type Difference, NODE_DIFFERENCES, reasonFor, STATE_DIFFERENCES } from './differences';
import { isSame, type State, statesOf } from './properties';

/** How often two sides agree. */
export class Tally {
  right = 0;
  readonly wrong: string[] = [];
  /** How often which reason was given for a difference on purpose. */
  readonly onPurpose = new Map<string, number>();

  /** Enters one comparison; `describe` is asked only if it went wrong. */
  enter(isRight: boolean, reason: () => string | null, describe: () => string): void {
    if (isRight) {
      this.right++;
      return;
    }
    const why = reason();
    if (why === null) this.wrong.push(describe());
    else this.onPurpose.set(why, (this.onPurpose.get(why) ?? 0) + 1);
  }

  /** Right ones in percent of those that are right or wrong. */
  get percent(): number {
    const all = this.right + this.wrong.length;
    return all === 0 ? 100 : (100 * this.right) / all;
  }

  get differences(): number {
    return [...this.onPurpose.values()].reduce((sum, count) => sum + count, 0);
  }

  add(other: Tally): void {
    this.right += other.right;
    this.wrong.push(...other.wrong);
    for (const [reason, count] of other.onPurpose) {
      this.onPurpose.set(reason, (this.onPurpose.get(reason) ?? 0) + count);
    }
  }

  toString(): string {
    const { right, wrong, percent, differences } = this;
    const all = right + wrong.length;
    return `${percent.toFixed(1)} % (${right} of ${all}, ${differences} different on purpose)`;
  }
}

/** What was found on one page or on a set of pages. */
export interface Result {
  readonly nodes: Tally;
  readonly states: Tally;
}

export function emptyResult(): Result {
  return { nodes: new Tally(), states: new Tally() };
}

/** Compares the elements of one page. */
export function judge(page: string, pairs: readonly Pair[]): Result {
  const { nodes, states } = emptyResult();
  for (const pair of pairs) {
    const isRight = agrees(pair);
    const why = lookUp(NODE_DIFFERENCES, pair, undefined);
    nodes.enter(isRight, why, () => `${page} ${pair.tag}\n    ${describePair(pair)}`);
    for (const state of statesOf(pair)) {
      const excuse = lookUp(STATE_DIFFERENCES, pair, state);
      const describe = () => `${page} ${pair.tag}\n    ${describeState(state)}`;
      states.enter(isSame(pair, state), excuse, describe);
    }
  }
  return { nodes, states };
}

/** Writes down everything about a set. */
export function write(set: string, pages: ReadonlyMap<string, Result>, whole: Result): string {
  const lines = [`${set}: ${pages.size} pages`];
  lines.push(`  role and name: ${whole.nodes}`, `  states: ${whole.states}`);
  for (const [page, { nodes, states }] of pages) {
    lines.push(`  ${page}: role and name ${nodes}; states ${states}`);
  }
  for (const [title, tally] of Object.entries(whole)) {
    for (const [reason, count] of tally.onPurpose) lines.push(`  on purpose, ${count}: ${reason}`);
    for (const wrong of tally.wrong) lines.push(`  wrong ${title}: ${wrong}`);
  }
  return lines.join('\n');
}

function lookUp<T>(differences: ReadonlyArray<Difference<T>>, pair: Pair, what: T) {
  return () => reasonFor(differences, pair, what);
}

function describePair({ ours, chromes }: Pair): string {
  const side = (node: { role: string; name: string } | null) =>
    node ? `${node.role} ${JSON.stringify(node.name)}` : 'nothing';
  return `ours: ${side(ours)}, Chrome: ${side(chromes)}`;
}

function describeState({ property, ours, chromes }: State): string {
  return `${property}, ours: ${JSON.stringify(ours)}, Chrome: ${JSON.stringify(chromes)}`;
}
