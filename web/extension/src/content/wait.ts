/**
 * Waiting for something to appear or to go, in this frame.
 *
 * Looks after every change and, for what CSS does alone, ten times a second.
 */

import type { Condition, Problem } from './api';
import type { ChangeCounter } from './change-counter';
import { frame } from './clock';
import { body, innerText, isElement, textContent } from './dom';
import { matchesOf } from './find';
import { allRoots } from './shadow';
import { spellings, tidy } from './text';
import { isVisible } from './visibility';

const LOOK_EVERY_MS = 100;

export async function waitFor(
  changes: ChangeCounter,
  condition: Condition,
  timeoutMs: number,
): Promise<boolean | Problem> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const met = holdsNow(condition);
    if (met !== false) return met;
    const left = end - performance.now();
    if (left <= 0) return false;
    await nextChance(changes, Math.min(LOOK_EVERY_MS, left));
  }
}

// A change or some time, whichever is first, and then a frame: changes come in swarms.
async function nextChance(changes: ChangeCounter, ms: number): Promise<void> {
  const changed = await new Promise<boolean>((resolve) => {
    const unlisten = changes.listen(() => finish(true));
    const timer = setTimeout(() => finish(false), ms);
    const finish = (isChange: boolean) => {
      clearTimeout(timer);
      unlisten();
      resolve(isChange);
    };
  });
  if (changed) await frame();
}

function holdsNow(condition: Condition): boolean | Problem {
  switch (condition.type) {
    case 'selector': {
      const matches = matchesOf(condition.selector);
      if (!Array.isArray(matches)) return matches;
      if (condition.state === 'attached') return matches.length > 0;
      return matches.some(isVisible) === (condition.state === 'visible');
    }
    case 'text':
      return showsText(condition.text) === (condition.state === 'visible');
    default:
      return condition satisfies never;
  }
}

function showsText(wanted: string): boolean {
  const texts = spellings(tidy(wanted).trim().toLowerCase());
  if (texts.includes('')) return true;
  const includes = (raw: string) => {
    const shown = tidyAll(raw).toLowerCase();
    return texts.some((text) => shown.includes(text));
  };
  for (const root of allRoots()) {
    const parts = root instanceof ShadowRoot ? Array.from(root.childNodes) : [body(document)];
    for (const part of parts) {
      if (!part) continue;
      // What is not there at all need not be laid out.
      if (!includes(textContent(part) ?? '')) continue;
      if (!isElement(part)) {
        if (root instanceof ShadowRoot && isVisible(root.host)) return true;
      } else if (part instanceof HTMLElement && isVisible(part) && includes(innerText(part))) {
        return true;
      }
    }
  }
  return false;
}

function tidyAll(raw: string): string {
  return raw.replace(/\s+/g, ' ');
}
