/**
 * The state of an element as a list of words, in the order a reader wants them.
 */

import { attribute, has, hasAny, isTrue, localName, matches } from './dom';
import { INTERACTIVE } from './role-tables';
import { isSummary } from './roles';
import { isPassword } from './values';

export interface FlagHints {
  readonly focused: boolean;
  /** Shows the hand where what is around it does not, or listens by an attribute. */
  readonly clickable: boolean;
  /** Something around it is disabled. */
  readonly disabledAround: boolean;
}

const URL_LIMIT = 300;
const CHECKABLE = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);
// Which a model handles unlike a plain text box or button.
const TOLD_TYPES = new Set(['color', 'date', 'datetime-local', 'file', 'month', 'time', 'week']);

export function flagsOf(element: Element, name: string, role: string, hints: FlagHints): string[] {
  const flags: string[] = [];
  if (hints.focused) flags.push('focused');
  if (hasAny(element) || hints.disabledAround || CHECKABLE.has(role) || role === 'option') {
    addState(flags, element, name, role, hints.disabledAround);
  }
  addByTag(flags, element, name, role);
  if (hints.clickable && !INTERACTIVE.has(role)) flags.push('clickable');
  return flags;
}

function addState(
  flags: string[],
  element: Element,
  name: string,
  role: string,
  disabledAround: boolean,
): void {
  if (disabledAround || isTrue(element, 'aria-disabled') || isNativelyDisabled(element, name)) {
    flags.push('disabled');
  }
  const checked = checkedState(element, role);
  if (checked !== null) flags.push(checked);
  const pressed = attribute(element, 'aria-pressed')?.toLowerCase();
  if (pressed === 'true') flags.push('pressed');
  else if (pressed === 'mixed') flags.push('mixed');
  const expanded = attribute(element, 'aria-expanded')?.toLowerCase();
  if (expanded === 'true') flags.push('expanded');
  else if (expanded === 'false') flags.push('collapsed');
  if (element instanceof HTMLOptionElement ? element.selected : isTrue(element, 'aria-selected')) {
    flags.push('selected');
  }
  if (isTrue(element, 'aria-required') || isNativelyRequired(element)) flags.push('required');
  if (isTrue(element, 'aria-readonly') || isNativelyReadonly(element)) flags.push('readonly');
  if (isInvalid(element, name)) flags.push('invalid');
}

function addByTag(flags: string[], element: Element, name: string, role: string): void {
  if (role === 'heading') flags.push(`level=${headingLevel(element, name)}`);
  else if (role === 'treeitem' && has(element, 'aria-level')) {
    flags.push(`level=${headingLevel(element, name)}`);
  }
  if (name === 'summary' && isSummary(element) && !has(element, 'aria-expanded')) {
    const details = element.parentElement;
    flags.push(details && has(details, 'open') ? 'expanded' : 'collapsed');
  }
  if (element instanceof HTMLInputElement) {
    if (TOLD_TYPES.has(element.type)) flags.push(`type=${element.type}`);
    if (isPassword(element)) flags.push('password');
  }
  if (role === 'link') {
    const url = linkUrl(element);
    if (url !== null) flags.push(`url=${url}`);
  }
}

/** Whether a check box, radio button or switch is on, as a word; null for anything else. */
export function checkedState(
  element: Element,
  role: string,
): 'checked' | 'unchecked' | 'mixed' | null {
  if (element instanceof HTMLInputElement) {
    if (element.type === 'checkbox' || element.type === 'radio') {
      if (element.indeterminate && element.type === 'checkbox') return 'mixed';
      return element.checked ? 'checked' : 'unchecked';
    }
  }
  const told = attribute(element, 'aria-checked')?.toLowerCase();
  if (told === 'true') return 'checked';
  if (told === 'mixed') return 'mixed';
  return CHECKABLE.has(role) || told === 'false' ? 'unchecked' : null;
}

function headingLevel(element: Element, name: string): number {
  const told = Number.parseInt(attribute(element, 'aria-level') ?? '', 10);
  if (told > 0) return told;
  return /^h[1-6]$/.test(name) ? Number(name.charAt(1)) : 2;
}

const DISABLEABLE = new Set([
  'button',
  'fieldset',
  'input',
  'optgroup',
  'option',
  'select',
  'textarea',
]);

function isNativelyDisabled(element: Element, name: string): boolean {
  return (DISABLEABLE.has(name) || name.includes('-')) && matches(element, ':disabled');
}

function isNativelyRequired(element: Element): boolean {
  return (
    (element instanceof HTMLInputElement ||
      element instanceof HTMLTextAreaElement ||
      element instanceof HTMLSelectElement) &&
    element.required
  );
}

function isNativelyReadonly(element: Element): boolean {
  return (
    (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) &&
    element.readOnly
  );
}

function isInvalid(element: Element, name: string): boolean {
  const told = attribute(element, 'aria-invalid')?.toLowerCase();
  if (told !== undefined && told !== '') return told !== 'false';
  return DISABLEABLE.has(name) && matches(element, ':user-invalid');
}

// Short where it stays on the site, whole where it leaves it.
function linkUrl(element: Element): string | null {
  if (element instanceof HTMLAnchorElement || element instanceof HTMLAreaElement) {
    const written = attribute(element, 'href');
    if (written === null) return null;
    if (written.startsWith('#')) return written.slice(0, URL_LIMIT);
    if (/^(?:javascript|data|blob):/i.test(written.trim())) return written.trim().slice(0, 40);
    const url = element.href.slice(0, URL_LIMIT);
    const { origin } = location;
    return url.startsWith(`${origin}/`) ? url.slice(origin.length) : url;
  }
  return (
    (attribute(element, 'href') ?? attribute(element, 'xlink:href'))?.slice(0, URL_LIMIT) ?? null
  );
}

/** Whether a user would click on it though it has no such role. */
export function listens(element: Element): boolean {
  if (has(element, 'onclick')) return true;
  const index = attribute(element, 'tabindex');
  return index !== null && Number.parseInt(index, 10) >= 0 && localName(element) !== 'body';
}
