/**
 * Keeps child frames out of pictures: not drawn while covered, and drawn as before afterwards.
 *
 * A frame element that is invisible draws nothing of its document, wherever that runs. A page can
 * make it visible again, but not unnoticed: `uncover` tells. Which frames may be seen is the
 * worker's matter; all others are covered, those that cannot be told apart included.
 */

import { frame } from './clock';
import { queryAll } from './dom';
import { childIndex } from './frames';
import { allRoots } from './shadow';

const FRAMES = 'iframe, frame, object, embed, fencedframe';
// Transitions would let it be seen for as long as they take.
const HIDING = { visibility: 'hidden', transition: 'none' } as const;
// A worker that died does not uncover; the longest picture, a paper, takes a minute.
const LONGEST_MS = 90_000;

interface Covered {
  readonly element: HTMLElement;
  /** What the element's own style said before. */
  readonly before: ReadonlyArray<readonly [name: string, value: string, priority: string]>;
  readonly hadStyle: boolean;
}

export class Covers {
  #covered: readonly Covered[] = [];
  #isBroken = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #observer = new MutationObserver(() => {
    this.#isBroken = true;
  });

  /** Covers all frames but those of the given indexes, and waits until that is drawn. */
  async cover(shown: readonly number[]): Promise<void> {
    this.uncover();
    this.#isBroken = false;
    this.#covered = hiddenFrames(shown).map(hide);
    const attributeFilter = ['style'];
    for (const { element } of this.#covered) {
      this.#observer.observe(element, { attributes: true, attributeFilter });
    }
    this.#timer = setTimeout(() => this.uncover(), LONGEST_MS);
    await frame();
    await frame();
  }

  /** Shows everything again; returns whether what was covered was so all the time. */
  uncover(): boolean {
    clearTimeout(this.#timer);
    const isHeld =
      !this.#isBroken &&
      this.#observer.takeRecords().length === 0 &&
      this.#covered.every(({ element }) => getComputedStyle(element).visibility === 'hidden');
    this.#observer.disconnect();
    // By time, too: whoever asks afterwards is told that it was not so all the time.
    this.#isBroken = true;
    for (const covered of this.#covered) show(covered);
    this.#covered = [];
    return isHeld;
  }
}

function hiddenFrames(shown: readonly number[]): HTMLElement[] {
  return allRoots()
    .flatMap((root) => Array.from(queryAll(root, FRAMES)))
    .filter((element) => element instanceof HTMLElement)
    .filter((element) => !shown.includes(childIndex(element) ?? -1));
}

function hide(element: HTMLElement): Covered {
  const { style } = element;
  const hadStyle = element.hasAttribute('style');
  const before = Object.entries(HIDING).map(([name, value]) => {
    const was = [name, style.getPropertyValue(name), style.getPropertyPriority(name)] as const;
    style.setProperty(name, value, 'important');
    return was;
  });
  return { element, before, hadStyle };
}

function show({ element, before, hadStyle }: Covered): void {
  for (const [name, value, priority] of before) {
    if (value === '') element.style.removeProperty(name);
    else element.style.setProperty(name, value, priority);
  }
  if (!hadStyle && element.style.length === 0) element.removeAttribute('style');
}
