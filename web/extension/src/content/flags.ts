/**
 * The state of an element as a list of words, in the order a reader wants them.
 */

import { attribute, has, hasAny, isTrue, localName, matches } from './dom';
import { awaitsDocument } from './parsing';
import { INTERACTIVE, knowsState } from './role-tables';
import { isSummary } from './roles';
import { linkTarget } from './text';
import { isPassword } from './values';

export interface FlagHints {
  readonly focused: boolean;
  /** Shows the hand where what is around it does not, or listens by an attribute. */
  readonly clickable: boolean;
  /** Something around it is disabled. */
  readonly disabledAround: boolean;
  /** Where links lead is wanted. */
  readonly links: boolean;
}

const CHECKABLE = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);
// Which are never half on.
const EITHER_OR = new Set(['menuitemradio', 'radio', 'switch']);
// Which a model handles unlike a plain text box or button.
const TOLD_TYPES = new Set(['color', 'date', 'datetime-local', 'file', 'month', 'time', 'week']);

export function flagsOf(element: Element, name: string, role: string, hints: FlagHints): string[] {
  const flags: string[] = [];
  if (hints.focused) flags.push('focused');
  const hasState = CHECKABLE.has(role) || DISABLEABLE.has(name);
  if (hasState || hasAny(element) || hints.disabledAround) {
    addState(flags, element, name, role, hints.disabledAround);
  }
  addByTag(flags, element, name, role);
  if (hints.links && role === 'link') addTarget(flags, element);
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
  const checked = knowsState(role, 'aria-checked') ? checkedState(element, role) : null;
  if (checked !== null) flags.push(checked);
  const pressed = stateOf(element, role, 'aria-pressed');
  if (pressed === 'true') flags.push('pressed');
  else if (pressed === 'mixed') flags.push('mixed');
  const expanded = stateOf(element, role, 'aria-expanded') ?? popoverState(element, name);
  if (expanded === 'true') flags.push('expanded');
  else if (expanded === 'false') flags.push('collapsed');
  const isSelected = element instanceof HTMLOptionElement && element.selected;
  if (isSelected || stateOf(element, role, 'aria-selected') === 'true') flags.push('selected');
  const isRequired = DISABLEABLE.has(name) && matches(element, ':required');
  if (isRequired || stateOf(element, role, 'aria-required') === 'true') flags.push('required');
  const isReadonly = isNativelyReadonly(element);
  if (isReadonly || stateOf(element, role, 'aria-readonly') === 'true') flags.push('readonly');
  if (isInvalid(element, name)) flags.push('invalid');
}

// What the page says of a state that elements of this role can have.
function stateOf(element: Element, role: string, state: string): string | null {
  return knowsState(role, state) ? (attribute(element, state)?.toLowerCase() ?? null) : null;
}

function popoverState(element: Element, name: string): string | null {
  if ((name !== 'button' && name !== 'input') || !has(element, 'popovertarget')) return null;
  if (!(element instanceof HTMLButtonElement || element instanceof HTMLInputElement)) return null;
  const target = element.popoverTargetElement;
  return target ? String(matches(target, ':popover-open')) : null;
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
  if (role === 'iframe' && awaitsDocument(element)) flags.push('loading');
  if (element instanceof HTMLInputElement) {
    if (TOLD_TYPES.has(element.type)) flags.push(`type=${element.type}`);
    if (isPassword(element)) flags.push('password');
  }
}

function addTarget(flags: string[], element: Element): void {
  const written = attribute(element, 'href') ?? attribute(element, 'xlink:href');
  if (written !== null) flags.push(`url=${linkTarget(written, document.baseURI)}`);
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
  const told = stateOf(element, role, 'aria-checked');
  if (told === 'true') return 'checked';
  if (told === 'mixed' && !EITHER_OR.has(role)) return 'mixed';
  return CHECKABLE.has(role) || told === 'false' ? 'unchecked' : null;
}

function headingLevel(element: Element, name: string): number {
  const told = attribute(element, 'aria-level')?.trim();
  // Whatever is no level counts as the first.
  if (told) return Math.max(1, Number.parseInt(told, 10) || 1);
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

// `readonly` means nothing to these.
const ALWAYS_WRITABLE = new Set(
  'button checkbox color file hidden image radio range reset submit'.split(' '),
);

function isNativelyReadonly(element: Element): boolean {
  if (element instanceof HTMLTextAreaElement) return element.readOnly;
  if (!(element instanceof HTMLInputElement)) return false;
  return element.readOnly && !ALWAYS_WRITABLE.has(element.type);
}

function isInvalid(element: Element, name: string): boolean {
  const told = attribute(element, 'aria-invalid')?.toLowerCase();
  if (told !== undefined && told !== '') return told !== 'false';
  return DISABLEABLE.has(name) && matches(element, ':user-invalid');
}

/** Whether a user would click on it though it has no such role. */
export function listens(element: Element): boolean {
  if (has(element, 'onclick')) return true;
  const index = attribute(element, 'tabindex');
  return index !== null && Number.parseInt(index, 10) >= 0 && localName(element) !== 'body';
}
