/**
 * Which of all that was found is told: what matters most first, and of many alike only some.
 *
 * Pure: candidates in reading order go in, facts come out.
 */

import type { Fact } from './api';
import { addMore, limitFacts } from './fact-limits';

/** How much a fact matters: what speaks to the user, what can be used, and the rest. */
export type Rank = 'urgent' | 'thing' | 'rest';

/** Something that could be told. */
export interface Candidate {
  readonly rank: Rank;
  /** The same for things of one kind in the same kind of place. */
  readonly shape: string;
  readonly fact: Fact;
}

/** The most important first. */
export const RANKS: readonly Rank[] = ['urgent', 'thing', 'rest'];
/** Of so many alike each is told, if there is room; of more only where they begin and end. */
const FEW_ALIKE = 6;
/** What does not matter much is told only while there are fewer than so many. */
const ENOUGH = 4;

/** Returns the facts that are told, those that matter most first. */
export function chooseFacts(candidates: readonly Candidate[]): Fact[] {
  const said = saidBy(candidates);
  const ranked = RANKS.flatMap((rank) => candidates.filter((each) => each.rank === rank));
  const news = ranked.filter(({ fact }) => !isSaid(fact, said));
  const wanted = new Set([...shapesOf(news).values()].flatMap(someOf));
  const facts: Fact[] = [];
  for (const candidate of news) {
    const { fact, rank } = candidate;
    const isRoom = rank !== 'rest' || facts.length < ENOUGH;
    if (fact.what === 'more') addMore(facts, fact.count);
    else if (wanted.has(candidate) && isRoom) facts.push(fact);
    else addMore(facts, 1);
  }
  return limitFacts(facts);
}

// A label's text, or that within a button: the words of things, once more.
function isSaid(fact: Fact, said: readonly string[]): boolean {
  if (fact.what === 'more' || fact.what === 'gone' || fact.role !== 'text') return false;
  const text = fact.name.toLowerCase();
  return said.some((words) => words.includes(text));
}

function saidBy(candidates: readonly Candidate[]): string[] {
  return candidates.flatMap(({ fact }) => {
    if (fact.what === 'more' || fact.what === 'gone' || fact.role === 'text') return [];
    const { name, value = '', message = '' } = fact;
    return [name, value, message].map((words) => words.toLowerCase());
  });
}

function shapesOf(candidates: readonly Candidate[]): Map<string, Candidate[]> {
  const shapes = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const alike = shapes.get(candidate.shape);
    if (alike) alike.push(candidate);
    else shapes.set(candidate.shape, [candidate]);
  }
  return shapes;
}

function someOf(alike: readonly Candidate[]): readonly Candidate[] {
  if (alike.length <= FEW_ALIKE) return alike;
  const [first, last] = [alike[0], alike[alike.length - 1]];
  if (!first || !last) return alike;
  // One more that is called the same says nothing of where the list ends.
  return nameOf(first.fact) === nameOf(last.fact) ? [first] : [first, last];
}

function nameOf(fact: Fact): string {
  return fact.what === 'more' ? '' : fact.name;
}
