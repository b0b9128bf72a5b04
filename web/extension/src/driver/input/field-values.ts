/**
 * Values of fields: reading one back, and setting those that cannot be typed into.
 */

import { isRecord } from '../../check';
import { isProblem, type Where } from '../page/content-calls';
import { type FoundElement, onElement } from '../page/elements';
import type { Page } from '../page/page';
import { parseReference } from '../tab/documents';

/** Returns the value a field has now, masked if it is a password; nothing if it has none. */
export async function readValue(
  page: Page,
  ref: string | undefined,
): Promise<FoundElement<string> | undefined> {
  if (ref === undefined) return undefined;
  try {
    parseReference(ref);
    // The snapshot knows what counts as a value, and masks what must not be told.
    const found = await onElement(page, { ref }, (root) => ({
      method: 'snapshot',
      args: [{ root, maxNodes: 1 }],
    }));
    const value = firstValue(found.value.nodes);
    return value === undefined ? undefined : { ...found, value };
  } catch {
    // A field that its own text has removed or replaced has no value to tell.
    return undefined;
  }
}

/** Returns the value of the first of some nodes, `[ref, depth, role, name, value?, flags?]`. */
function firstValue(nodes: string): string | undefined {
  const list: unknown = JSON.parse(nodes);
  const [first]: unknown[] = Array.isArray(list) ? list : [];
  const [, , , , value]: unknown[] = Array.isArray(first) ? first : [];
  return typeof value === 'string' ? value : undefined;
}

/** Sets the focused field if it takes no text; returns whether it did. */
export async function setUntyped(page: Page, where: Where, text: string): Promise<boolean> {
  const answers = await page.run(where, setFocused, [text]);
  return answers.some(({ value }) => !isProblem(value) && isRecord(value) && value.isSet === true);
}

// Serialised into the page: may not close over this module.
function setFocused(text: string): { isSet: boolean } {
  let element = document.activeElement;
  for (;;) {
    const root = element instanceof HTMLElement ? chrome.dom.openOrClosedShadowRoot(element) : null;
    const inner = (root as ShadowRoot | null)?.activeElement;
    if (inner === null || inner === undefined) break;
    element = inner;
  }
  const types = ['color', 'date', 'datetime-local', 'month', 'range', 'time', 'week'];
  if (!(element instanceof HTMLInputElement) || !types.includes(element.type)) {
    return { isSet: false };
  }
  element.value = text;
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
  return { isSet: true };
}
