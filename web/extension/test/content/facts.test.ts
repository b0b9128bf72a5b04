/**
 * Which facts of an act are told, and how many of them.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fact } from '../../src/content/api';
import { type Candidate, chooseFacts, type Rank } from '../../src/content/fact-choice';
import { FACT_TEXT, limitFacts } from '../../src/content/fact-limits';

function thing(name: string, rank: Rank = 'thing', role = 'button', shape = role): Candidate {
  return { rank, shape, fact: { what: 'appeared', role, name } };
}

function names(facts: readonly Fact[]): string[] {
  return facts.map((fact) => (fact.what === 'more' ? `+${fact.count}` : fact.name));
}

function buttons(count: number): Candidate[] {
  return Array.from({ length: count }, (_, at) => thing(`Day ${at + 1}`));
}

test('what speaks to the user comes first, and everything else in its order', () => {
  const found = [thing('Undo'), thing('Small', 'rest', 'text'), thing('Saved', 'urgent', 'status')];
  assert.deepEqual(names(chooseFacts(found)), ['Saved', 'Undo', 'Small']);
});

test('of many alike the first and the last are told', () => {
  assert.deepEqual(names(chooseFacts(buttons(31))), ['Day 1', '+29', 'Day 31']);
  assert.deepEqual(names(chooseFacts(buttons(6))).length, 6);
  const same = Array.from({ length: 9 }, () => thing('Open'));
  assert.deepEqual(names(chooseFacts(same)), ['Open', '+8']);
});

test('those that were not looked at are counted where they would stand', () => {
  const more: Candidate = { rank: 'thing', shape: '', fact: { what: 'more', count: 498 } };
  const found = [thing('Row 1'), more, thing('Row 500')];
  assert.deepEqual(names(chooseFacts(found)), ['Row 1', '+498', 'Row 500']);
});

test('a text that is in the words of a thing is not told again', () => {
  const texts = [thing('parcel 16', 'rest', 'text'), thing('Other', 'rest', 'text')];
  assert.deepEqual(names(chooseFacts([thing('Open Parcel 16'), ...texts])), [
    'Open Parcel 16',
    'Other',
  ]);
});

test('plain text is told only while there is little else', () => {
  const found = [...buttons(4), thing('Prices', 'rest', 'text')];
  assert.deepEqual(names(chooseFacts(found)), ['Day 1', 'Day 2', 'Day 3', 'Day 4', '+1']);
});

test('there are six facts at most, and not too many bytes', () => {
  const kinds = Array.from({ length: 9 }, (_, at) => thing(`T${at}`, 'thing', 'link', `${at}`));
  assert.deepEqual(names(chooseFacts(kinds)).slice(5), ['T5', '+3']);
  const long = kinds.map((each, at) => ({ ...each, fact: thing('ü'.repeat(FACT_TEXT)).fact, at }));
  assert.deepEqual(chooseFacts(long).length, 3, 'each has 160 bytes');
});

test('facts of several frames keep to the same limits together', () => {
  const frame: Fact[] = Array.from({ length: 4 }, (_, at) => ({
    what: 'appeared',
    role: 'link',
    name: `L${at}`,
  }));
  const told = limitFacts([...frame, { what: 'more', count: 2 }, ...frame]);
  assert.deepEqual(names(told), ['L0', 'L1', 'L2', 'L3', '+2', 'L0', 'L1', '+2']);
});
