/**
 * Forms: the caret, check marks, choices, files, submitting.
 *
 * What can only be done by trusted input is not done here.
 */

import { quoted } from '../quoted';
import type { Described, Locator, Problem } from './api';
import { isProblem } from './describe';
import {
  activeElement,
  closest,
  has,
  isContentEditable,
  isTrue,
  localName,
  matches,
  queryAll,
  rootOf,
} from './dom';
import type { Effects } from './effects';
import { checkedState } from './flags';
import { labelsOf } from './names';
import { Roles } from './roles';
import { flatHolds, focusedElement } from './shadow';
import type { Targets } from './target';
import { asShown, spellings } from './text';
import { isDisabled, optionLabel } from './values';
import { isVisible } from './visibility';

const FIELDS =
  'input:not([type=hidden]), textarea, select, [contenteditable]:not([contenteditable=false]), [tabindex], button, a[href]';

export class Forms {
  readonly #targets: Targets;
  readonly #effects: Effects;

  constructor(targets: Targets, effects: Effects) {
    this.#targets = targets;
    this.#effects = effects;
  }

  focus(locator: Locator, { select }: { select: boolean }): Described | Problem {
    const found = this.#targets.find(locator);
    if (isProblem(found)) return found;
    const field = fieldOf(found);
    if (!field) return this.#wrong(found, 'it cannot have the focus; name the field itself');
    if (isDisabled(field)) return { problem: 'disabled', element: this.#targets.describe(field) };
    if (!isVisible(field)) return { problem: 'hidden', element: this.#targets.describe(field) };
    if (isReadOnly(field)) return this.#wrong(field, 'it is read-only');
    HTMLElement.prototype.focus.call(field);
    const focused = focusedElement();
    if (!focused || !flatHolds(field, focused)) {
      return this.#wrong(field, 'it does not take the focus');
    }
    placeCaret(focused, select);
    return this.#targets.report(field);
  }

  focusOn(locator: Locator): Described | Problem {
    const found = this.#targets.find(locator);
    if (isProblem(found)) return found;
    const control = controlOf(found);
    if (isDisabled(control)) {
      return { problem: 'disabled', element: this.#targets.describe(control) };
    }
    if (!isVisible(control)) return { problem: 'hidden', element: this.#targets.describe(control) };
    if (takesFocus(control)) return this.#targets.report(control);
    return this.#wrong(found, 'it does not take the focus; name what is used by keyboard');
  }

  checked(locator: Locator): { checked: boolean | null; element: Described } | Problem {
    const found = this.#targets.find(locator);
    if (isProblem(found)) return found;
    const control = controlOf(found);
    const state = checkedState(control, new Roles().of(control));
    const checked = state === null ? null : state === 'checked';
    return { checked, element: this.#targets.report(control) };
  }

  select(
    locator: Locator,
    wanted: { values?: readonly string[]; label?: string; index?: number },
  ): { selected: readonly string[]; element: Described } | Problem {
    const found = this.#targets.find(locator);
    if (isProblem(found)) return found;
    const inOption = found instanceof HTMLOptionElement ? closest(found, 'select') : null;
    const list = inOption ?? controlOf(found);
    if (!(list instanceof HTMLSelectElement)) {
      return this.#wrong(list, 'it is not a <select>; click it and then the option');
    }
    if (isDisabled(list)) return { problem: 'disabled', element: this.#targets.describe(list) };
    const options = wantedOptions(list, wanted);
    if (typeof options === 'string') return this.#wrong(list, options);
    // Before the page hears of it: it may put another list in its place.
    const element = this.#targets.report(list);
    choose(list, options);
    announce(list);
    this.#effects.know(list);
    return { selected: Array.from(list.selectedOptions, (option) => option.value), element };
  }

  fileInput(locator: Locator, count: number): Described | Problem {
    const input = this.#fileInput(locator, count);
    return isProblem(input) ? input : this.#targets.report(input);
  }

  setFiles(locator: Locator, files: readonly File[]): Described | Problem {
    const input = this.#fileInput(locator, files.length);
    if (isProblem(input)) return input;
    const transfer = new DataTransfer();
    for (const file of files) transfer.items.add(file);
    const element = this.#targets.report(input);
    input.files = transfer.files;
    announce(input);
    return element;
  }

  submit(locator: Locator | null): Described | Problem {
    const form = locator ? this.#formOf(locator) : this.#onlyForm();
    if (!(form instanceof HTMLFormElement)) return form;
    const button = defaultButton(form);
    if (button === 'disabled')
      return { problem: 'disabled', element: this.#targets.describe(form) };
    const element = this.#targets.report(form);
    HTMLFormElement.prototype.requestSubmit.call(form, button);
    const invalid = firstInvalid(form);
    if (!invalid) return element;
    return this.#wrong(invalid.field, `the form is not sent: ${quoted(invalid.message)}`);
  }

  #formOf(locator: Locator): HTMLFormElement | Problem {
    const found = this.#targets.find(locator);
    if (isProblem(found)) return found;
    return formOf(found) ?? this.#wrong(found, 'it is in no form');
  }

  #onlyForm(): HTMLFormElement | Problem {
    const focused = focusedElement();
    const around = focused && formOf(focused);
    if (around) return around;
    const forms = Array.from(queryAll(document, 'form'));
    const seen = forms.filter(isVisible);
    const [form, other] = seen.length > 0 ? seen : forms;
    if (!(form instanceof HTMLFormElement)) return { problem: 'not_found', matches: 0 };
    if (other) return this.#wrong(form, `there are ${forms.length} forms; say which one`);
    return form;
  }

  #fileInput(locator: Locator, count: number): HTMLInputElement | Problem {
    const found = this.#targets.find(locator);
    if (isProblem(found)) return found;
    const control = controlOf(found);
    const inner = isFileInput(control) ? control : firstFileInput(control);
    if (!inner) return this.#wrong(found, 'it is not a file input');
    if (isDisabled(inner)) return { problem: 'disabled', element: this.#targets.describe(inner) };
    if (count > 1 && !inner.multiple) return this.#wrong(inner, 'it takes one file only');
    return inner;
  }

  #wrong(element: Element, message: string): Problem {
    return { problem: 'wrong_kind', element: this.#targets.describe(element), message };
  }
}

/** The control of a label, the element itself otherwise. */
export function controlOf(element: Element): Element {
  if (labelsOf(element)) return element;
  const label = element instanceof HTMLLabelElement ? element : closest(element, 'label');
  return (label instanceof HTMLLabelElement && label.control) || element;
}

function fieldOf(element: Element): HTMLElement | null {
  const control = controlOf(element);
  const candidates = [control, ...queryAll(control, FIELDS)];
  for (const candidate of candidates) {
    if (!(candidate instanceof HTMLElement)) continue;
    if (isContentEditable(candidate)) return candidate;
    if (matches(candidate, FIELDS) || candidate.shadowRoot?.delegatesFocus) return candidate;
  }
  return control instanceof HTMLElement && localName(control).includes('-') ? control : null;
}

function takesFocus(element: Element): boolean {
  // Even where it seems to have it: it may be the last in a frame that has not.
  if (element instanceof HTMLElement) HTMLElement.prototype.focus.call(element);
  if (element instanceof SVGElement) SVGElement.prototype.focus.call(element);
  return activeElement(rootOf(element)) === element;
}

/** Whether it shows a value and takes none. */
export function isReadOnly(field: HTMLElement): boolean {
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
    return field.readOnly;
  }
  return isTrue(field, 'aria-readonly');
}

function placeCaret(field: Element, select: boolean): void {
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
    if (select) {
      field.select();
      return;
    }
    // Numbers, dates and addresses have no caret to set.
    if (field.selectionStart === null) return;
    field.setSelectionRange(field.value.length, field.value.length);
    return;
  }
  if (!(field instanceof HTMLElement) || !isContentEditable(field)) return;
  const selection = getSelection();
  selection?.selectAllChildren(field);
  if (!select) selection?.collapseToEnd();
}

/** Returns the options that are meant, or why there are none such. */
export function wantedOptions(
  list: HTMLSelectElement,
  wanted: { values?: readonly string[]; label?: string; index?: number },
): HTMLOptionElement[] | string {
  const options = Array.from(list.options);
  const found: HTMLOptionElement[] = [];
  const missing: string[] = [];
  for (const value of wanted.values ?? []) {
    const option =
      options.find((each) => each.value === value) ??
      options.find((each) => optionLabel(each) === value.trim()) ??
      options.find((each) => matchesText(optionLabel(each), value));
    if (option) found.push(option);
    else missing.push(quoted(value));
  }
  if (wanted.label !== undefined) {
    const label = wanted.label.trim();
    const option =
      options.find((each) => optionLabel(each) === label) ??
      options.find((each) => matchesText(optionLabel(each), label));
    if (option) found.push(option);
    else missing.push(quoted(label));
  }
  if (wanted.index !== undefined) {
    const option = options[wanted.index];
    if (option) found.push(option);
    else missing.push(`number ${wanted.index}`);
  }
  if (missing.length > 0)
    return `it has no option ${missing.join(', ')}; it has ${listed(options)}`;
  if (found.length > 1 && !list.multiple) return 'it takes one option only';
  const disabled = found.find((option) => matches(option, ':disabled'));
  return disabled ? `the option ${quoted(optionLabel(disabled))} is disabled` : found;
}

/** Whether two labels are the same to a reader. */
export function matchesText(one: string, other: string): boolean {
  const shown = asShown(one).toLowerCase();
  return spellings(other).some((each) => asShown(each).toLowerCase() === shown);
}

function listed(options: readonly HTMLOptionElement[]): string {
  const shown = options.slice(0, 20).map((option) => quoted(optionLabel(option)));
  const more = options.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function choose(list: HTMLSelectElement, wanted: readonly HTMLOptionElement[]): void {
  const [first] = wanted;
  if (!list.multiple) {
    if (first) first.selected = true;
    return;
  }
  for (const option of list.options) option.selected = wanted.includes(option);
}

/** Tells the page that a control has a new value. */
export function announce(element: Element): void {
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
}

function isFileInput(element: Element): element is HTMLInputElement {
  return element instanceof HTMLInputElement && element.type === 'file';
}

function firstFileInput(element: Element): HTMLInputElement | null {
  for (const inner of queryAll(element, 'input')) if (isFileInput(inner)) return inner;
  return null;
}

/** The form an element is in, or is the control of. */
export function formOf(element: Element): HTMLFormElement | null {
  if (element instanceof HTMLFormElement) return element;
  const control = controlOf(element);
  if (
    control instanceof HTMLInputElement ||
    control instanceof HTMLButtonElement ||
    control instanceof HTMLSelectElement ||
    control instanceof HTMLTextAreaElement
  ) {
    if (control.form) return control.form;
  }
  const around = closest(element, 'form');
  return around instanceof HTMLFormElement ? around : null;
}

const elementsOf = Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, 'elements')?.get;

function controlsOf(form: HTMLFormElement): Element[] {
  const found: unknown = elementsOf?.call(form);
  return found instanceof HTMLFormControlsCollection ? Array.from(found) : [];
}

/** The button that Enter would press. */
function defaultButton(form: HTMLFormElement): HTMLElement | null | 'disabled' {
  for (const control of controlsOf(form)) {
    const isButton = control instanceof HTMLButtonElement && control.type === 'submit';
    const isInput = control instanceof HTMLInputElement && control.type === 'submit';
    if (!isButton && !isInput) continue;
    return isDisabled(control) ? 'disabled' : control;
  }
  return null;
}

function firstInvalid(form: HTMLFormElement): { field: Element; message: string } | null {
  if (has(form, 'novalidate') || !matches(form, ':invalid')) return null;
  for (const control of controlsOf(form)) {
    if (!matches(control, ':invalid') || !('validationMessage' in control)) continue;
    return { field: control, message: String(control.validationMessage) };
  }
  return null;
}
