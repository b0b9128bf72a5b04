/**
 * Names that do not come from what is inside: references, labels, attributes.
 *
 * The text of other elements is read by the walker, which hands itself in as `ReadText`: names
 * bubble up there, and the rules for spaces, hidden parts and embedded controls live there once.
 */

import {
  attribute,
  firstElementChild,
  has,
  hasAny,
  isTrue,
  localName,
  namespace,
  nextElementSibling,
  referenced,
  SVG,
  textContent,
} from './dom';
import { NOT_NAMED_BY_TITLE } from './role-tables';
import { optionLabel } from './values';
import { sightOf } from './visibility';

/** Returns an element's text. A reference reaches hidden text too, a label leaves its control out. */
export type ReadText = (
  element: Element,
  how: { readonly reference: boolean; readonly except?: Element },
) => string;

/** What names are made of besides the element itself. */
export interface NameSource {
  readonly readText: ReadText;
  labelsOf(control: Element): readonly Element[];
}

/**
 * Returns the name that the page gave; empty when it gave none.
 *
 * `followsReferences` is false inside a reference: one step is all there is.
 */
export function givenName(
  element: Element,
  tag: string,
  source: NameSource,
  followsReferences: boolean,
): string {
  if (hasAny(element)) {
    if (followsReferences && has(element, 'aria-labelledby')) {
      const texts = referenced(element, 'aria-labelledby').map(
        (target) => source.readText(target, { reference: true }) || lastName(target, ''),
      );
      const name = texts.join(' ').trim();
      if (name !== '') return name;
    }
    const label = attribute(element, 'aria-label')?.trim();
    if (label) return label;
  }
  return nativeName(element, tag, source);
}

/** Returns the name that is left when there is neither a given one nor content. */
export function lastName(element: Element, role: string): string {
  if (!hasAny(element)) return '';
  const title = attribute(element, 'title')?.trim();
  // An image that is declared empty stays nameless.
  if (title && !NOT_NAMED_BY_TITLE.has(role)) return attribute(element, 'alt') === '' ? '' : title;
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    return element.placeholder.trim() || (attribute(element, 'aria-placeholder') ?? '').trim();
  }
  return (attribute(element, 'aria-placeholder') ?? '').trim();
}

function nativeName(element: Element, tag: string, source: NameSource): string {
  switch (tag) {
    case 'input':
      return element instanceof HTMLInputElement ? inputName(element, source) : '';
    case 'button':
    case 'meter':
    case 'output':
    case 'progress':
    case 'select':
    case 'textarea':
      return labelText(element, source);
    case 'img':
    case 'area':
      return attribute(element, 'alt') ?? '';
    case 'fieldset':
      return childText(element, 'legend', source.readText);
    case 'table':
      return (
        childText(element, 'caption', source.readText) ||
        (attribute(element, 'summary') ?? '').trim()
      );
    case 'optgroup':
      return (attribute(element, 'label') ?? '').trim();
    case 'option':
      return element instanceof HTMLOptionElement && has(element, 'label')
        ? optionLabel(element)
        : '';
    default:
      if (namespace(element) === SVG) return svgTitle(element);
      return tag.includes('-') ? labelText(element, source) : '';
  }
}

const DEFAULT_NAMES: ReadonlyMap<string, string> = new Map([
  ['submit', 'Submit'],
  ['reset', 'Reset'],
]);

function inputName(input: HTMLInputElement, source: NameSource): string {
  const label = labelText(input, source);
  if (label !== '') return label;
  switch (input.type) {
    case 'button':
    case 'submit':
    case 'reset':
      return has(input, 'value') ? input.value.trim() : (DEFAULT_NAMES.get(input.type) ?? '');
    case 'image':
      return (
        input.alt.trim() ||
        (attribute(input, 'value') ?? '').trim() ||
        (attribute(input, 'title') ?? '').trim() ||
        'Submit'
      );
    case 'file':
      return input.multiple ? 'Choose Files' : 'Choose File';
    default:
      return '';
  }
}

function labelText(control: Element, source: NameSource): string {
  let text = '';
  for (const label of source.labelsOf(control).slice(0, 10)) {
    if (sightOf(label, 'label') === 'gone' || isTrue(label, 'aria-hidden')) continue;
    const told = source.readText(label, { reference: false, except: control });
    text += ` ${told || (attribute(label, 'title') ?? '')}`;
  }
  return text.trim();
}

/** Returns the labels of one control; slow, for the browser looks through the whole document. */
export function labelsOf(control: Element): NodeListOf<HTMLLabelElement> | null {
  if (
    control instanceof HTMLInputElement ||
    control instanceof HTMLButtonElement ||
    control instanceof HTMLSelectElement ||
    control instanceof HTMLTextAreaElement ||
    control instanceof HTMLMeterElement ||
    control instanceof HTMLProgressElement ||
    control instanceof HTMLOutputElement
  ) {
    return control.labels;
  }
  return null;
}

function childText(element: Element, wanted: string, read: ReadText): string {
  let child = firstElementChild(element);
  while (child) {
    if (localName(child) === wanted) return read(child, { reference: false }).trim();
    child = nextElementSibling(child);
  }
  return '';
}

function svgTitle(element: Element): string {
  let child = firstElementChild(element);
  while (child) {
    if (localName(child) === 'title') return (textContent(child) ?? '').trim();
    child = nextElementSibling(child);
  }
  return '';
}
