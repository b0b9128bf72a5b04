/**
 * Groups of radio buttons as one field: which buttons belong together, and which one a value means.
 */

import { quoted } from '../quoted';
import { attribute, closest, queryAll, rootOf } from './dom';
import { matchesText } from './forms';
import { Roles } from './roles';

const RADIOS = 'input[type=radio i], [role=radio i]';
const LISTED = 20;

/** Returns the buttons of a group, or of the group that a button is in; none for anything else. */
export function radiosOf(field: Element, role: string): Element[] {
  if (role !== 'radio') {
    const isGroup = role === 'radiogroup' || field instanceof HTMLFieldSetElement;
    return isGroup ? Array.from(queryAll(field, RADIOS)) : [];
  }
  if (!(field instanceof HTMLInputElement)) {
    const group = closest(field, '[role=radiogroup i]');
    return group === null ? [field] : Array.from(queryAll(group, RADIOS));
  }
  if (field.name === '') return [field];
  return Array.from(queryAll(rootOf(field), 'input[type=radio i]')).filter(
    (other) =>
      other instanceof HTMLInputElement && other.name === field.name && other.form === field.form,
  );
}

/** Returns the button that a value means, or what would be right. */
export function wantedRadio(
  field: Element,
  role: string,
  value: string,
  nameOf: (radio: Element) => string,
): Element | string {
  const radios = radiosOf(field, role);
  const isButton = role === 'radio';
  if (isButton && value.trim().toLowerCase() === 'true') return field;
  const options = radios.map((radio) => ({ radio, label: nameOf(radio) }));
  const found =
    options.find(({ radio }) => ownValue(radio) === value) ??
    options.find(({ label }) => label === value.trim()) ??
    options.find(({ label }) => matchesText(label, value));
  if (found !== undefined) return found.radio;
  const shown = options.slice(0, LISTED).map(({ label }) => quoted(label));
  const more = options.length - shown.length;
  const list = more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
  const itself = isButton ? '; "true" chooses this one' : '';
  return `it has no option ${quoted(value)}; it has ${list}${itself}`;
}

function ownValue(radio: Element): string | null {
  if (new Roles().of(radio) !== 'radio') return null;
  return attribute(radio, 'value') ?? attribute(radio, 'data-value');
}
