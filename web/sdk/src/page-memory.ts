/**
 * Remembers who the page is over a reload, in its `sessionStorage`.
 *
 * A browser copies that storage when a tab is duplicated; two pages with one name would throw each
 * other out for ever. So whoever uses a name holds a lock on it, and a page that does not get the
 * lock of its name is somebody new. Where the browser has no locks, the name is taken as it is.
 */

import type { Memory, Snapshot } from '@tabwire/shared';
import type { Page } from './page';

/** A page that is being left lets go within this time, also on a busy machine. */
const LOCK_WITHIN_MS = 3_000;

export class PageMemory implements Memory {
  readonly #page: Page;
  readonly #key: string;
  #held: string | undefined;
  #release: () => void = () => {};

  /** Pages of one address with apps of different names are different. */
  constructor(page: Page, name: string) {
    this.#page = page;
    this.#key = `tabwire ${page.location.pathname} ${name}`;
  }

  async load(): Promise<Snapshot | undefined> {
    const kept = this.#page.sessionStorage.getItem(this.#key);
    const snapshot: Snapshot | undefined = kept ? JSON.parse(kept) : undefined;
    if (snapshot === undefined) return undefined;
    return (await this.#hold(`${snapshot.instanceId}`)) ? snapshot : undefined;
  }

  save(snapshot: Snapshot): void {
    if (this.#held !== snapshot.instanceId) void this.#hold(snapshot.instanceId);
    try {
      this.#page.sessionStorage.setItem(this.#key, JSON.stringify(snapshot));
    } catch {
      // Forbidden or full: a reload will be somebody new.
    }
  }

  /** Lets another link have the name. */
  close(): void {
    this.#release();
  }

  #hold(instanceId: string): Promise<boolean> {
    this.#held = instanceId;
    const { locks } = this.#page.navigator;
    if (locks === undefined) return Promise.resolve(true);
    return new Promise((resolve) => {
      const keep = () => {
        resolve(true);
        return new Promise<void>((release) => {
          this.#release = release;
        });
      };
      const signal = AbortSignal.timeout(LOCK_WITHIN_MS);
      locks.request(`tabwire ${instanceId}`, { signal }, keep).catch(() => resolve(false));
    });
  }
}
