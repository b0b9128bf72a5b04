/**
 * One element in a few words, for people and for the next step.
 */

import type { Described, Problem } from './api';
import { localName } from './dom';
import { givenName, lastName } from './names';
import { Reading } from './reading';
import type { Refs } from './refs';
import { NAMED_BY_CONTENT } from './role-tables';
import { asName, cut } from './text';

const SHORT = 100;

export function describe(element: Element, refs: Refs, reading = new Reading()): Described {
  const tag = localName(element);
  const found = reading.roles.of(element, tag);
  const role = found === 'none' ? 'generic' : found;
  return { ref: refs.of(element), role, name: nameOf(element, tag, role, reading), tag };
}

function nameOf(element: Element, tag: string, role: string, reading: Reading): string {
  const given = asName(givenName(element, tag, reading, true));
  if (given !== '') return given;
  if (NAMED_BY_CONTENT.has(role) || role === 'row') {
    // Something hidden is still called by its name when it is refused.
    const text = asName(reading.readText(element, { reference: true }));
    if (text !== '') return text;
  }
  const last = asName(lastName(element, role));
  if (last !== '' || role !== 'generic') return last;
  return cut(asName(reading.readText(element, { reference: false })), SHORT);
}

/** Whether an answer is a problem. */
export function isProblem(answer: object): answer is Problem {
  return 'problem' in answer;
}
