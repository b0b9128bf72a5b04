/**
 * What is in a control: its value as a user sees it, and never a password.
 */

import { attribute, closest, has, matches, queryAll } from './dom';
import { knownShadowRoots } from './shadow';
import { cut, MASK, TEXT_LIMIT, tidy } from './text';

// A page may show a password by changing the type; it stays one.
const seenAsPassword = new WeakSet<Element>();

/** Remembers the password fields there are, before an act may show one by changing its type. */
export function notePasswords(): void {
  for (const root of [document, ...knownShadowRoots()]) {
    for (const field of queryAll(root, 'input[type=password i]')) seenAsPassword.add(field);
  }
}

const PASSWORD_PURPOSE = /\b(?:current|new)-password\b/i;

/** Whether what is in it is a secret. */
export function isPassword(element: Element): boolean {
  if (!(element instanceof HTMLInputElement)) return false;
  if (element.type === 'password') {
    seenAsPassword.add(element);
    return true;
  }
  if (seenAsPassword.has(element)) return true;
  if (PASSWORD_PURPOSE.test(attribute(element, 'autocomplete') ?? '')) return true;
  const security = getComputedStyle(element).getPropertyValue('-webkit-text-security');
  return security !== '' && security !== 'none';
}

const SILENT_INPUTS = new Set([
  'button',
  'checkbox',
  'hidden',
  'image',
  'radio',
  'reset',
  'submit',
]);

const NATIVE = new Set(['input', 'textarea', 'select', 'progress', 'meter']);

/** Returns the value of a native control or what ARIA says of one; null when it has none. */
export function controlValue(element: Element, tag: string, role: string): string | null {
  if (!NATIVE.has(tag)) return RANGES.has(role) ? rangeValue(element) : null;
  if (element instanceof HTMLInputElement) return inputValue(element);
  if (element instanceof HTMLTextAreaElement) return cut(element.value, TEXT_LIMIT);
  if (element instanceof HTMLSelectElement) return selectValue(element);
  if (element instanceof HTMLProgressElement) {
    return has(element, 'value') ? String(element.value) : null;
  }
  return element instanceof HTMLMeterElement ? String(element.value) : null;
}

function inputValue(input: HTMLInputElement): string | null {
  if (SILENT_INPUTS.has(input.type)) return null;
  if (input.type === 'file') return fileNames(input);
  if (input.value === '') return '';
  return isPassword(input) ? MASK : cut(input.value, TEXT_LIMIT);
}

function fileNames(input: HTMLInputElement): string {
  const names = Array.from(input.files ?? [], (file) => file.name);
  return names.length === 0 ? 'No file chosen' : cut(names.join(', '), TEXT_LIMIT);
}

// A list that shows its options shows by them what is chosen.
function selectValue(select: HTMLSelectElement): string | null {
  if (select.multiple || select.size > 1) return null;
  const chosen = select.selectedOptions[0];
  return chosen ? optionLabel(chosen) : '';
}

export function optionLabel(option: HTMLOptionElement): string {
  return cut(tidy(option.label).trim(), TEXT_LIMIT);
}

const RANGES = new Set(['meter', 'progressbar', 'scrollbar', 'separator', 'slider', 'spinbutton']);

function rangeValue(element: Element): string | null {
  const told = attribute(element, 'aria-valuetext') ?? attribute(element, 'aria-valuenow');
  return told === null ? null : cut(told, TEXT_LIMIT);
}

/** Whether it takes no input: by itself, by its fieldset, or by what is around it. */
export function isDisabled(element: Element): boolean {
  return matches(element, ':disabled') || closest(element, '[aria-disabled="true" i]') !== null;
}
