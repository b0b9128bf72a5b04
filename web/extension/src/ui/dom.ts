/**
 * The little of the DOM that the pages need: finding what stands in them, making what is new.
 *
 * Text is only ever set as text; what pages are called can say nothing but words here.
 */

/** Returns the element with an id; the page and its script belong together, so it is there. */
export function byId<T extends HTMLElement>(id: string, kind: new () => T): T {
  const element = document.getElementById(id);
  if (element instanceof kind) return element;
  throw new TypeError(`this page has no ${kind.name} #${id}`);
}

/** Makes an element with a class and text. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = '',
  text = '',
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  if (text !== '') element.textContent = text;
  return element;
}

/** Shows words, in which `this` is a command to be typed. */
export function setWords(element: HTMLElement, words: string): void {
  const parts = words.split('`');
  const nodes = parts.map((part, place) => (place % 2 === 1 ? make('code', '', part) : part));
  element.replaceChildren(...nodes);
}

/** Returns a sentence of what was written as part of one. */
export function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?…]$/.test(text) || text === '' ? text : `${text}.`;
}

/** Replaces what is in an element and leaves the focus where it was, as far as that is still there. */
export function refill(element: HTMLElement, content: readonly Node[]): void {
  const focused = document.activeElement;
  const key = focused instanceof HTMLElement && element.contains(focused) && focused.dataset.key;
  element.replaceChildren(...content);
  if (!key) return;
  const again = element.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (again instanceof HTMLElement) again.focus();
}
