/**
 * Toasts: short notes that come, stay for a moment and go.
 *
 * At most three at a time; what is said again at once is counted instead. Errors stay longer.
 * Screen readers hear them, since the element is a live region.
 */

import type { Saying } from './words';

const STAY_MS = 3200;
const ERROR_STAY_MS = 7000;
const AT_MOST = 3;

/** Who speaks: the client, the page, or the page about a failure. */
export type Voice = 'client' | 'page' | 'error';

interface Toast {
  readonly element: HTMLElement;
  readonly words: string;
  count: number;
  timer: number;
}

export class Toasts {
  readonly #home: HTMLElement;
  #toasts: Toast[] = [];

  constructor(home: HTMLElement) {
    this.#home = home;
  }

  /** Shows a note. */
  show(saying: Saying, voice: Voice): void {
    const last = this.#toasts.at(-1);
    if (last?.words === saying.words && last.element.dataset.voice === voice) this.#again(last);
    else this.#add(saying, voice);
  }

  #add({ words, color }: Saying, voice: Voice): void {
    const element = document.createElement('div');
    element.className = 'toast';
    element.dataset.voice = voice;
    if (voice === 'client') element.append(span('who', 'AI'));
    element.append(span('words', words));
    if (color !== undefined) {
      const swatch = span('swatch', '');
      swatch.style.background = color;
      element.append(swatch);
    }
    const toast = { element, words, count: 1, timer: 0 };
    this.#toasts.push(toast);
    this.#home.append(element);
    this.#stay(toast);
    for (const old of this.#toasts.slice(0, -AT_MOST)) this.#remove(old);
  }

  #again(toast: Toast): void {
    toast.count += 1;
    toast.element.dataset.count = `×${toast.count}`;
    this.#stay(toast);
  }

  #stay(toast: Toast): void {
    clearTimeout(toast.timer);
    const forMs = toast.element.dataset.voice === 'error' ? ERROR_STAY_MS : STAY_MS;
    toast.timer = window.setTimeout(() => this.#remove(toast), forMs);
  }

  #remove(toast: Toast): void {
    clearTimeout(toast.timer);
    toast.element.remove();
    this.#toasts = this.#toasts.filter((other) => other !== toast);
  }
}

function span(className: string, text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = className;
  element.textContent = text;
  return element;
}
