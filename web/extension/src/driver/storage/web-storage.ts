/**
 * What the page keeps in `localStorage` and `sessionStorage`: the top document's origin.
 *
 * The functions below run in the isolated world, which shares both with the page. They are run in
 * the very document whose site was checked, never in one that took its place.
 */

import { CommandError, invalid } from '../../command';
import { inDocument, type Where } from '../page/content-calls';
import { type Page, tabNotFound } from '../page/page';

export type StorageType = 'localStorage' | 'sessionStorage';

/** What became of an attempt. */
export type Outcome<T> =
  | { readonly type: 'done'; readonly value: T }
  | { readonly type: 'refused'; readonly name: string; readonly message: string };

export interface StoredItems {
  readonly storage: Record<string, string>;
  readonly keys: number;
  readonly leftOutKeys: number;
  readonly leftOutCharacters: number;
}

/** Runs one of the functions below in the top document. */
export async function inStorage<A extends unknown[], R>(
  page: Page,
  work: (...args: A) => Outcome<R>,
  args: A,
): Promise<R> {
  const where = await topDocument(page);
  const [answer] = await page.run(where, work, args);
  const outcome = answer?.value;
  if (outcome === undefined) throw refused('the page gave no answer');
  if (outcome.type === 'done') return outcome.value;
  if (outcome.name === 'QuotaExceededError') {
    throw new CommandError('TOO_LARGE', 'value does not fit: the storage of this site is full');
  }
  throw refused(outcome.message);
}

async function topDocument(page: Page): Promise<Where> {
  const frame = await chrome.webNavigation.getFrame({ tabId: page.tabId, frameId: 0 });
  if (frame === null || frame === undefined) throw tabNotFound(page.tabId);
  await page.services.checkSite(frame.url);
  return inDocument({ ...frame, frameId: 0 });
}

function refused(message: string): CommandError {
  return invalid(
    `this page has no such storage: ${message}; it works on pages of http and https that are not ` +
      'sandboxed',
  );
}

/** Reads one key or all, up to so many characters. Runs in the page. */
export function readStorage(
  type: StorageType,
  key: string | null,
  most: number,
): Outcome<StoredItems> {
  // Serialised into the page: may not close over this module.
  try {
    const area = window[type];
    const all = Object.keys(area);
    const wanted = key === null ? all : all.filter((name) => name === key);
    const entries: Array<[string, string]> = [];
    let [left, leftOutKeys, leftOutCharacters] = [most, 0, 0];
    for (const name of wanted) {
      const value = area.getItem(name) ?? '';
      const room = left - name.length;
      if (room <= 0 && value !== '') {
        leftOutKeys++;
        leftOutCharacters += value.length;
        continue;
      }
      entries.push([name, value.slice(0, room)]);
      leftOutCharacters += Math.max(0, value.length - room);
      left = room - value.length;
    }
    const storage = Object.fromEntries(entries);
    const keys = all.length;
    return { type: 'done', value: { storage, keys, leftOutKeys, leftOutCharacters } };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { type: 'refused', name, message };
  }
}

/** Sets one key. Runs in the page. */
export function writeStorage(type: StorageType, key: string, value: string): Outcome<number> {
  // Serialised into the page: may not close over this module.
  try {
    window[type].setItem(key, value);
    return { type: 'done', value: window[type].length };
  } catch (error) {
    const { name, message } = error instanceof DOMException ? error : new Error(String(error));
    return { type: 'refused', name, message };
  }
}

/** Removes everything. Runs in the page. */
export function emptyStorage(types: StorageType[]): Outcome<number> {
  // Serialised into the page: may not close over this module.
  try {
    let cleared = 0;
    for (const type of types) {
      cleared += window[type].length;
      window[type].clear();
    }
    return { type: 'done', value: cleared };
  } catch (error) {
    const { name, message } = error instanceof DOMException ? error : new Error(String(error));
    return { type: 'refused', name, message };
  }
}
