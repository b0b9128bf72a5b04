/**
 * Values that outlive the worker, each under one key of `chrome.storage`.
 *
 * `local` outlives the browser, `session` only the worker. What is read passes the value's own
 * check; what does not pass counts as nothing.
 */

/** Which of the browser's stores. */
export type Area = 'local' | 'session';

export class Kept<T> {
  readonly #area: Area;
  readonly #isValue: (value: unknown) => value is T;
  readonly key: string;

  constructor(area: Area, key: string, isValue: (value: unknown) => value is T) {
    this.#area = area;
    this.key = key;
    this.#isValue = isValue;
  }

  async load(): Promise<T | undefined> {
    const found = await chrome.storage[this.#area].get(this.key);
    const value: unknown = found[this.key];
    return this.#isValue(value) ? value : undefined;
  }

  async save(value: T): Promise<void> {
    await chrome.storage[this.#area].set({ [this.key]: value });
  }

  async clear(): Promise<void> {
    await chrome.storage[this.#area].remove(this.key);
  }
}

/** Keeps what is stored away from content scripts, which share a process with pages. */
export async function shutStorage(): Promise<void> {
  const accessLevel = 'TRUSTED_CONTEXTS';
  await Promise.all([
    chrome.storage.local.setAccessLevel({ accessLevel }),
    chrome.storage.session.setAccessLevel({ accessLevel }),
  ]);
}
