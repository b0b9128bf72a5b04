/**
 * What an element adds to the names around it, where that is not simply the text in it.
 */

import { has, isTrue } from './dom';
import { lastName } from './names';
import { CLOSED_TO_NAMES, OPEN_TO_NAMES } from './role-tables';
import { isFocusable } from './roles';

/** What is in them is not theirs to show, or is the browser's. */
export const CHILDLESS: ReadonlySet<string> = new Set([
  'audio',
  'embed',
  'frame',
  'hr',
  'iframe',
  'img',
  'input',
  'meter',
  'progress',
  'textarea',
  'video',
]);

/** Fields of the browser's making: their value is not the text in them. */
export const NATIVE_FIELDS: ReadonlySet<string> = new Set(['input', 'select', 'textarea']);

/** What has no text inside is named by its last name inside other names. */
export function leafName(element: Element, tag: string, role: string): string | null {
  return CHILDLESS.has(tag) || tag === 'svg' ? lastName(element, role) : null;
}

/** Whether what is in it stays out of the names around it; a combobox that has no focus is a box. */
export function isClosedToNames(element: Element, tag: string, role: string): boolean {
  if (CLOSED_TO_NAMES.has(role)) return !OPEN_TO_NAMES.has(tag) || has(element, 'role');
  return role === 'combobox' && !isFocusable(element, tag);
}

/** Whether an option is chosen: of a list only those are read. */
export function isChosen(option: Element): boolean {
  return option instanceof HTMLOptionElement ? option.selected : isTrue(option, 'aria-selected');
}
