/**
 * Fields of a form, to be filled by name: which one a label means, whether it can take a value and
 * in which way, setting those that cannot be typed into, and reading back what is in them.
 *
 * Finding and checking change nothing, so that all fields can be looked at before the first is
 * touched. Typing and clicking are the worker's matter.
 */

import type { Described, FieldPlan, FieldWay, LabelMatch, Locator, Problem } from './api';
import { describe, isProblem } from './describe';
import { innerText, isContentEditable, matches, queryAll } from './dom';
import type { Effects } from './effects';
import { radiosOf, wantedRadio } from './field-radios';
import { refusedText } from './field-values';
import { checkedState } from './flags';
import { announce, controlOf, formOf, isReadOnly, wantedOptions } from './forms';
import { labelsOf } from './names';
import { Reading } from './reading';
import type { Refs } from './refs';
import { Roles } from './roles';
import { allRoots, shadowRootOf } from './shadow';
import type { Targets } from './target';
import { asShown, cut, MASK, spellings, TEXT_LIMIT } from './text';
import { isDisabled, isPassword, optionLabel } from './values';
import { isVisible } from './visibility';

const ROLES = 'textbox searchbox combobox checkbox switch radio spinbutton slider radiogroup';
const FILLABLE = [
  'input:not([type=hidden i], [type=submit i], [type=button i], [type=reset i], [type=image i])',
  'textarea',
  'select',
  '[contenteditable]:not([contenteditable=false i])',
  'fieldset:has(input[type=radio i])',
  ...ROLES.split(' ').map((role) => `[role=${role} i]`),
].join(', ');
const SET_TYPES = new Set(['color', 'date', 'datetime-local', 'month', 'range', 'time', 'week']);
const BUTTON_TYPES = new Set(['button', 'hidden', 'image', 'reset', 'submit']);
const TOGGLES = new Set(['checkbox', 'switch', 'menuitemcheckbox']);
const TEXT_ROLES = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton']);
const MOST_MATCHES = 20;

/** Returns, for each label, the fields it may mean: those that fit best. */
export function labelled(refs: Refs, labels: readonly string[]): LabelMatch[][] {
  const reading = new Reading();
  const fields = allRoots()
    .flatMap((root) => Array.from(queryAll(root, FILLABLE)))
    .map((element) => ({ isSeen: isSeen(element), element: describe(element, refs, reading) }));
  return labels.map((label) => {
    const graded = fields.flatMap(({ element, isSeen }) => {
      const name = asShown(element.name);
      const grades = spellings(label).map((each) => gradeOf(name, asShown(each)));
      const grade = grades.find((each) => each !== undefined);
      return grade === undefined ? [] : [{ element, isSeen, grade }];
    });
    const seen = graded.some((match) => match.isSeen)
      ? graded.filter((match) => match.isSeen)
      : graded;
    const best = Math.min(...seen.map(({ grade }) => grade));
    return seen.filter(({ grade }) => grade === best).slice(0, MOST_MATCHES);
  });
}

/** 0 is exact; then in another case, the beginning of it, a part of it. */
function gradeOf(name: string, label: string): number | undefined {
  if (label === '' || name === '') return undefined;
  if (name === label) return 0;
  const [whole, part] = [name.toLowerCase(), label.toLowerCase()];
  if (whole === part) return 1;
  if (whole.startsWith(part)) return 2;
  return whole.includes(part) ? 3 : undefined;
}

export class Fields {
  readonly #targets: Targets;
  readonly #effects: Effects;

  constructor(targets: Targets, effects: Effects) {
    this.#targets = targets;
    this.#effects = effects;
  }

  /** Says how a field takes a value, or why it does not. */
  plan(locator: Locator, value: string): FieldPlan | Problem {
    const found = this.#targets.find(locator);
    if (isProblem(found)) return found;
    const field = fieldIn(controlOf(found));
    if (field === null) {
      return this.#wrong(found, 'it is no field; name an input, a list, a check box or an editor');
    }
    const element = this.#targets.report(field);
    if (isDisabled(field)) return { problem: 'disabled', element };
    const way = this.#wayOf(field, value);
    if (typeof way === 'string') return this.#wrong(field, way);
    if (isProblem(way)) return way;
    // Lists, boxes and buttons take no notice of the attribute.
    const isWritten = way.type === 'type' || way.type === 'set';
    if (isWritten && isReadOnly(field)) return this.#wrong(field, 'it is read-only');
    if (!canBeUsed(field, way)) return { problem: 'hidden', element };
    return { element, way, hasForm: formOf(field) !== null };
  }

  #wayOf(field: HTMLElement, value: string): FieldWay | Problem | string {
    if (field instanceof HTMLSelectElement) return selectWay(field, value);
    const role = new Roles().of(field);
    if (radiosOf(field, role).length > 0) return this.#radioWay(field, role, value);
    if (TOGGLES.has(role)) return this.#toggleWay(field, value);
    if (field instanceof HTMLInputElement) {
      if (field.type === 'file') return 'it takes files; use the action upload';
      if (BUTTON_TYPES.has(field.type)) return 'it is a button; click it';
      return refusedText(field, value) ?? { type: SET_TYPES.has(field.type) ? 'set' : 'type' };
    }
    if (field instanceof HTMLTextAreaElement) return refusedText(field, value) ?? { type: 'type' };
    if (isContentEditable(field)) return { type: 'type' };
    return TEXT_ROLES.has(role)
      ? 'it cannot be typed into; click it and choose what it offers'
      : 'it is moved with mouse or keys; use the actions click, press or drag';
  }

  #toggleWay(field: Element, value: string): FieldWay | string {
    const wanted = truth(value);
    if (wanted === undefined) return 'it takes "true" or "false"';
    const { ref } = this.#targets.describe(field);
    return { type: 'toggle', ref, wanted };
  }

  #radioWay(field: Element, role: string, value: string): FieldWay | Problem | string {
    const radio = wantedRadio(field, role, value, (each) => this.#targets.describe(each).name);
    if (typeof radio === 'string') return radio;
    const element: Described = this.#targets.describe(radio);
    if (isDisabled(radio)) return { problem: 'disabled', element };
    if (!isSeen(radio)) return { problem: 'hidden', element };
    return { type: 'toggle', ref: element.ref, wanted: true };
  }

  /** Sets what cannot be typed into, and tells the page as the control itself would. */
  set(locator: Locator, value: string): Described | Problem {
    const found = this.#targets.find(locator);
    if (isProblem(found)) return found;
    if (!(found instanceof HTMLInputElement)) return this.#wrong(found, 'it cannot be set');
    HTMLElement.prototype.focus.call(found);
    found.value = value;
    announce(found);
    return this.#targets.describe(found);
  }

  /** Lets go of a field, so that the page hears that it has changed. */
  leave(locator: Locator): void {
    const found = this.#targets.find(locator);
    if (found instanceof HTMLElement) HTMLElement.prototype.blur.call(found);
  }

  /** Returns what is in a field now; a password is masked. */
  value(locator: Locator): { readonly value: string } | Problem {
    const found = this.#targets.find(locator);
    if (isProblem(found)) return found;
    for (const radio of radiosOf(found, new Roles().of(found))) this.#effects.know(radio);
    this.#effects.know(found);
    return { value: this.#read(found) };
  }

  #read(field: Element): string {
    if (field instanceof HTMLSelectElement) {
      return Array.from(field.selectedOptions, optionLabel).join('\n');
    }
    const role = new Roles().of(field);
    const radios = radiosOf(field, role);
    if (radios.length > 0) {
      const on = radios.find((radio) => isOn(radio, 'radio'));
      return on === undefined ? '' : this.#targets.describe(on).name;
    }
    if (TOGGLES.has(role)) return String(isOn(field, role));
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
      return field.value !== '' && isPassword(field) ? MASK : cut(field.value, TEXT_LIMIT);
    }
    return field instanceof HTMLElement ? cut(innerText(field), TEXT_LIMIT) : '';
  }

  #wrong(element: Element, message: string): Problem {
    return { problem: 'wrong_kind', element: this.#targets.describe(element), message };
  }
}

/** The element itself if it can be filled, or the only one in it that can. */
function fieldIn(element: Element): HTMLElement | null {
  if (element instanceof HTMLElement && isFillable(element)) return element;
  const inside = queryAll(shadowRootOf(element) ?? element, FILLABLE);
  const [only, other] = inside;
  return only instanceof HTMLElement && other === undefined ? only : null;
}

function isFillable(element: HTMLElement): boolean {
  return (
    matches(element, FILLABLE) || isContentEditable(element) || element instanceof HTMLInputElement
  );
}

function selectWay(list: HTMLSelectElement, value: string): FieldWay | string {
  const values = list.multiple ? value.split('\n').filter((each) => each !== '') : [value];
  const options = wantedOptions(list, { values });
  return typeof options === 'string' ? options : { type: 'select', values };
}

function truth(value: string): boolean | undefined {
  const word = value.trim().toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : undefined;
}

function isOn(element: Element, role: string): boolean {
  return checkedState(element, role) === 'checked';
}

// Lists are chosen from without a look at them, and many a widget hides its own.
function canBeUsed(field: Element, { type }: FieldWay): boolean {
  if (type === 'select') return true;
  return type === 'toggle' ? isSeen(field) : isVisible(field);
}

// A control that shows nothing of itself is seen, and clicked, through its label.
function isSeen(element: Element): boolean {
  if (isVisible(element)) return true;
  for (const label of labelsOf(element) ?? []) if (isVisible(label)) return true;
  return false;
}
