/**
 * How much is told of what an act changed: few facts, few bytes.
 *
 * Pure, for the page and for the worker: each frame keeps to the limits, and so does the sum of
 * them. What is left out is counted where it would have stood.
 */

import type { Fact } from './api';

/** The longest name, text or value of a fact, in characters. */
export const FACT_TEXT = 80;
const MOST_FACTS = 6;
const MOST_BYTES = 400;
/** What stands around a fact's words: quotes, commas, `[ref=]`. */
const AROUND = 6;

const encoder = new TextEncoder();

/** Keeps the first facts that fit in, and counts the others. */
export function limitFacts<R>(facts: ReadonlyArray<Fact<R>>): Array<Fact<R>> {
  const told: Array<Fact<R>> = [];
  let [count, bytes] = [0, 0];
  for (const fact of facts) {
    const size = sizeOf(fact);
    const fits = fact.what === 'more' || (count < MOST_FACTS && bytes + size <= MOST_BYTES);
    if (!fits) addMore(told, 1);
    else if (fact.what === 'more') addMore(told, fact.count);
    else {
      told.push(fact);
      count++;
      bytes += size;
    }
  }
  return told;
}

/** Counts some that are not told, together with those right before them. */
export function addMore<R>(facts: Array<Fact<R>>, count: number): void {
  const last = facts[facts.length - 1];
  if (count <= 0) return;
  if (last?.what === 'more') facts[facts.length - 1] = { ...last, count: last.count + count };
  else facts.push({ what: 'more', count });
}

function sizeOf<R>(fact: Fact<R>): number {
  if (fact.what === 'more') return 0;
  const { role, name } = fact;
  if (fact.what === 'gone') return bytesOf([role, name]);
  const { ref, value = '', states = [], message = '' } = fact;
  const reference = ref === undefined ? '' : `[ref=${ref}]`;
  return bytesOf([role, name, reference, value, ...states, message]);
}

function bytesOf(words: readonly string[]): number {
  return encoder.encode(words.join(' ')).length + AROUND;
}
