/**
 * What is different on elements that were there before: texts, states, values, what is wrong.
 *
 * Compares with how things were, for pages write the same again and again. Each element is told
 * once, with all that is new about it.
 */

import type { Thing } from './api';
import { isAside, isSeen, moreCandidate, SPEAKING, short, spoken } from './appeared';
import type { Before, FieldState } from './before';
import { describe } from './describe';
import {
  attribute,
  closest,
  firstChild,
  isConnected,
  isText,
  localName,
  nextSibling,
  queryAll,
  referenced,
  textContent,
  textData,
} from './dom';
import type { Candidate, Rank } from './fact-choice';
import { checkedState } from './flags';
import { givenName, labelsOf } from './names';
import type { Reading } from './reading';
import type { Refs } from './refs';
import { INTERACTIVE, NAMED_BY_CONTENT } from './role-tables';
import { flatParent } from './shadow';
import type { Touched } from './touched';
import { controlValue, isPassword } from './values';
import { isVisible } from './visibility';

/** Of which one is on, so that those that went off need no words. */
const ONE_OF_MANY = new Set(['menuitemradio', 'option', 'radio', 'row', 'tab', 'treeitem']);
const OFF = new Set(['not current', 'not selected', 'unchecked']);
const WAY_UP = 6;
/** Characters of a line with its markup. */
const SMALL = 200;
/** Names are dear: no more than so many are made out, the others are counted. */
const MOST_DESCRIBED = 30;

interface Change {
  value?: string;
  message?: string;
  readonly states: string[];
}

export class Changed {
  readonly #refs: Refs;
  readonly #reading: Reading;
  readonly #changes = new Map<Element, Change>();
  readonly #texts = new Map<Element, Candidate>();
  #textsLeft = 0;

  constructor(refs: Refs, reading: Reading) {
    this.#refs = refs;
    this.#reading = reading;
  }

  /** Notes that what an element is called is new. */
  rename(element: Element): void {
    this.#changeOf(element);
  }

  /** Notes states that attributes tell. */
  compareAttributes({ attributes }: Touched): void {
    for (const [element, before] of attributes) {
      if (!isConnected(element)) continue;
      for (const [name, was] of before) {
        if (attribute(element, name) !== was) this.#noteAttribute(element, name);
      }
    }
  }

  /** Notes what is in fields that no attribute tells. */
  compareFields(before: Before): void {
    for (const { field, was, is } of before.fields()) this.#noteField(field, was, is);
  }

  /** Notes that the text in an element is another. */
  noteText(element: Element, before: string | null): void {
    if (before !== null && before === textContent(element)) return;
    if (isAside(element) || !isSeen(element)) return;
    if (this.#texts.size >= MOST_DESCRIBED) {
      this.#textsLeft++;
      return;
    }
    if (closest(element, '[contenteditable]:not([contenteditable=false i])')) return;
    const unit = this.unitAround(element);
    if (unit && !SPEAKING.has(this.#roleOf(unit))) {
      this.rename(unit);
      return;
    }
    const thing = unit ? this.#spokenBy(unit) : this.#plain(element);
    if (thing.name === '') return;
    const isLive = unit !== null || closest(element, '[aria-live]:not([aria-live=off i])') !== null;
    const rank: Rank = isLive ? 'urgent' : 'thing';
    const shape = `${thing.role} ${localName(element)}`;
    this.#texts.set(unit ?? element, { rank, shape, fact: { what: 'changed', ...thing } });
  }

  #spokenBy(element: Element): Thing {
    const name = givenName(element, localName(element), this.#reading, true);
    return spoken(element, this.#roleOf(element), name);
  }

  // Of something large only its own text is new, not all that is in it.
  #plain(element: Element): Thing {
    const isSmall = (textContent(element) ?? '').length <= SMALL;
    const text = isSmall ? this.#reading.readText(element, { reference: false }) : ownText(element);
    return { role: 'text', name: short(text) };
  }

  /** Returns what the element is a part of: a button, a heading, a message. */
  unitAround(element: Element): Element | null {
    let current: Element | null = element;
    for (let steps = 0; current && steps < WAY_UP; steps++) {
      const role = this.#roleOf(current);
      if (NAMED_BY_CONTENT.has(role) || SPEAKING.has(role)) return current;
      current = flatParent(current);
    }
    return null;
  }

  /** Returns all that was noted, but for what is told already. */
  candidates(told: (element: Element) => boolean): Candidate[] {
    const things: Candidate[] = [];
    let left = this.#changes.size;
    for (const [element, change] of this.#changes) {
      if (things.length >= MOST_DESCRIBED) break;
      left--;
      if (told(element) || !this.#isReached(element)) continue;
      const candidate = this.#candidate(element, change);
      if (candidate) things.push(candidate);
    }
    const kept = things.filter((each) => !isImplied(each, things));
    if (left > 0) kept.push(moreCandidate(left, 'thing'));
    const messages = new Set([...this.#changes.values()].map(({ message }) => message));
    for (const [element, candidate] of this.#texts) {
      const { fact } = candidate;
      const isTwice = fact.what !== 'more' && messages.has(fact.name);
      if (!isTwice && !told(element)) kept.push(candidate);
    }
    if (this.#textsLeft > 0) kept.push(moreCandidate(this.#textsLeft, 'rest'));
    return kept;
  }

  #candidate(element: Element, { value, message, states }: Change): Candidate | null {
    const { ref, role, name } = describe(element, this.#refs, this.#reading);
    if (name === '' && !INTERACTIVE.has(role)) return null;
    const thing: Thing = {
      role,
      name: short(name),
      ...(INTERACTIVE.has(role) || states.length > 0 ? { ref } : {}),
      ...(value === undefined ? {} : { value }),
      ...(states.length > 0 ? { states } : {}),
      ...(message === undefined ? {} : { message }),
    };
    const rank = states.includes('invalid') || SPEAKING.has(role) ? 'urgent' : 'thing';
    return { rank, shape: `${role} changed`, fact: { what: 'changed', ...thing } };
  }

  #noteAttribute(element: Element, name: string): void {
    const word = this.#wordFor(element, name);
    switch (name) {
      case 'aria-label':
      case 'alt':
        this.rename(element);
        return;
      case 'aria-valuenow':
      case 'aria-valuetext': {
        const value = controlValue(element, localName(element), this.#roleOf(element));
        if (value !== null) this.#changeOf(element).value = short(value);
        return;
      }
      case 'open': {
        const [summary] = localName(element) === 'details' ? queryAll(element, 'summary') : [];
        if (summary && word) this.#changeOf(summary).states.push(word);
        return;
      }
      default:
        if (word) this.#addState(element, word);
    }
  }

  #addState(element: Element, word: string): void {
    const change = this.#changeOf(element);
    if (!change.states.includes(word)) change.states.push(word);
    if (word === 'invalid') this.#explain(element, change);
  }

  #wordFor(element: Element, name: string): string | null {
    const now = attribute(element, name)?.toLowerCase() ?? null;
    const isOn = now !== null && now !== '' && now !== 'false';
    switch (name) {
      case 'aria-checked':
        return checkedState(element, this.#roleOf(element));
      case 'aria-current':
        return isOn ? 'current' : 'not current';
      case 'aria-disabled':
        return isOn ? 'disabled' : 'enabled';
      case 'aria-expanded':
        return isOn ? 'expanded' : 'collapsed';
      case 'aria-invalid':
        return isOn ? 'invalid' : null;
      case 'aria-pressed':
        return now === 'mixed' ? 'mixed' : isOn ? 'pressed' : 'not pressed';
      case 'aria-selected':
        return isOn ? 'selected' : 'not selected';
      case 'disabled':
        return now === null ? 'enabled' : 'disabled';
      case 'open':
        return now === null ? 'collapsed' : 'expanded';
      default:
        return null;
    }
  }

  #noteField(field: Element, was: FieldState, is: FieldState): void {
    if (is.checked !== null && is.checked !== was.checked) this.#addState(field, is.checked);
    if (is.isDisabled !== was.isDisabled) {
      this.#addState(field, is.isDisabled ? 'disabled' : 'enabled');
    }
    if (is.isInvalid && !was.isInvalid) this.#addState(field, 'invalid');
    if (is.value === null || was.value === null || is.value === was.value) return;
    if (!isPassword(field)) this.#changeOf(field).value = short(is.value);
  }

  // What the page says of it, or what the browser would show beside it.
  #explain(field: Element, change: Change): void {
    const described = [
      ...referenced(field, 'aria-errormessage'),
      ...referenced(field, 'aria-describedby'),
    ];
    const texts = described
      .filter((element) => isVisible(element))
      .map((element) => this.#reading.readText(element, { reference: false }))
      .filter((text) => text !== '');
    const [told = nativeMessage(field)] = texts;
    if (told !== '') change.message = short(told);
  }

  // One that shows nothing of itself is seen through its label.
  #isReached(element: Element): boolean {
    if (isAside(element)) return false;
    if (isSeen(element)) return true;
    return Array.from(labelsOf(element) ?? []).some((label) => isSeen(label));
  }

  #changeOf(element: Element): Change {
    let change = this.#changes.get(element);
    if (!change) {
      change = { states: [] };
      this.#changes.set(element, change);
    }
    return change;
  }

  #roleOf(element: Element): string {
    return this.#reading.roles.of(element);
  }
}

function ownText(element: Element): string {
  let text = '';
  for (let node = firstChild(element); node && text.length < SMALL; node = nextSibling(node)) {
    if (isText(node)) text += ` ${textData(node)}`;
  }
  return text;
}

// That one of many went off follows from another one going on.
function isImplied({ fact }: Candidate, all: readonly Candidate[]): boolean {
  if (fact.what !== 'changed' || !ONE_OF_MANY.has(fact.role) || fact.value !== undefined) {
    return false;
  }
  const isOff = fact.states?.length === 1 && fact.states.every((state) => OFF.has(state));
  return isOff && all.some(({ fact: other }) => turnsOn(other, fact.role));
}

function turnsOn(fact: Candidate['fact'], role: string): boolean {
  if (fact.what !== 'changed' || fact.role !== role) return false;
  return fact.states?.some((state) => !OFF.has(state)) === true;
}

// How long a password is, is part of what the browser says of it.
function nativeMessage(field: Element): string {
  const isField =
    field instanceof HTMLInputElement ||
    field instanceof HTMLSelectElement ||
    field instanceof HTMLTextAreaElement;
  return isField && !isPassword(field) ? field.validationMessage : '';
}
