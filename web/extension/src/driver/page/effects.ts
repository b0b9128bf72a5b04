/**
 * What frames tell of an act's effects, as one: counts added up, references written out.
 */

import type { Changes, Fact } from '../../content/api';
import { limitFacts } from '../../content/fact-limits';
import { numberDocuments, printReference } from '../tab/documents';
import type { Answer } from './content-calls';

const NO_CHANGES: Changes<string> = { added: 0, removed: 0, attributes: 0, text: 0 };

/** Adds up what the frames of a tab tell. */
export async function addUp(
  tabId: number,
  answers: ReadonlyArray<Answer<Changes>>,
): Promise<Changes<string>> {
  const telling = answers.filter(({ value }) => (value.facts ?? []).length > 0);
  const numbers = await numberDocuments(tabId, telling);
  const facts = telling.flatMap(({ value }, at) => {
    const document = numbers[at]?.n;
    return document === undefined ? [] : (value.facts ?? []).map((fact) => placed(fact, document));
  });
  const counts = answers.map(({ value }) => value).reduce(sum, NO_CHANGES);
  return { ...counts, facts: limitFacts(facts) };
}

function sum(one: Changes<string>, other: Changes): Changes<string> {
  return {
    added: one.added + other.added,
    removed: one.removed + other.removed,
    attributes: one.attributes + other.attributes,
    text: one.text + other.text,
  };
}

function placed(fact: Fact, document: number): Fact<string> {
  if (fact.what === 'gone' || fact.what === 'more') return fact;
  const { ref, ...thing } = fact;
  return ref === undefined ? thing : { ...thing, ref: printReference({ document, element: ref }) };
}
