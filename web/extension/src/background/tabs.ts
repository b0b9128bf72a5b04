/**
 * Tells the hub which tabs there are.
 *
 * Keeps a copy of what was told, so that only changes are told and everything can be told anew
 * at once. One tab is in front: the active one of the window that had the focus last. Of tabs on
 * sites that the user keeps from clients, neither title nor address is told.
 */

import type { Client, Tab } from '@tabwire/shared';
import { Turns } from './turns';

/** What is told to. */
export type Listener = Pick<Client, 'tabCreated' | 'tabUpdated' | 'tabClosed' | 'tabFocused'>;

/** A hub keeps no more, and leaves a browser that tells more. */
const MOST_TABS = 1000;

export class TabReporter {
  readonly #listener: Listener;
  readonly #mayTell: (url: string) => boolean;
  readonly #told = new Map<number, Tab>();
  /** Questions to the browser overtake each other; what is told must not. */
  readonly #turns = new Turns();
  #front: number | undefined;

  constructor(listener: Listener, mayTell: (url: string) => boolean) {
    this.#listener = listener;
    this.#mayTell = mayTell;
  }

  /** Tells all tabs there are; in each life first, and when other sites may be told. */
  async tellAll(): Promise<void> {
    await this.#turns.take(async () => {
      const [tabs, front] = await Promise.all([chrome.tabs.query({}), frontTab()]);
      this.#front = front;
      const byUse = tabs.sort((a, b) => (a.lastAccessed ?? 0) - (b.lastAccessed ?? 0));
      for (const tab of byUse.slice(-MOST_TABS)) this.#tell(tab);
    });
  }

  /** Tells everything anew: the hub has lost some of it. */
  resync(): void {
    for (const tab of this.#told.values()) this.#listener.tabCreated(tab);
  }

  created(tab: chrome.tabs.Tab): Promise<void> {
    return this.#turns.take(() => this.#tell(tab));
  }

  updated(tab: chrome.tabs.Tab): Promise<void> {
    return this.#turns.take(() => this.#tell(tab));
  }

  removed(tabId: number): Promise<void> {
    return this.#turns.take(() => this.#forget(tabId));
  }

  /** Notes that the browser gave a tab another number. */
  replaced(added: number, removed: number): Promise<void> {
    return this.#turns.take(async () => {
      this.#forget(removed);
      const tab = await chrome.tabs.get(added).catch(() => undefined);
      if (tab !== undefined) this.#tell(tab);
    });
  }

  /** Notes that another tab, or a tab of another window, may be in front now. */
  refocus(): Promise<void> {
    return this.#turns.take(async () => {
      const front = await frontTab();
      if (front === undefined || front === this.#front) return;
      this.#front = front;
      for (const [id, tab] of this.#told) this.#told.set(id, { ...tab, active: id === front });
      if (this.#told.has(front)) this.#listener.tabFocused(front);
    });
  }

  #tell(chromeTab: chrome.tabs.Tab): void {
    const { id } = chromeTab;
    if (id === undefined || id === chrome.tabs.TAB_ID_NONE) return;
    const url = chromeTab.url || chromeTab.pendingUrl || '';
    const shown = this.#mayTell(url) ? { title: chromeTab.title ?? '', url } : HIDDEN;
    const tab: Tab = { id, ...shown, active: id === this.#front };
    const before = this.#told.get(id);
    if (before === undefined) this.#makeRoom();
    this.#told.set(id, tab);
    if (before === undefined) this.#listener.tabCreated(tab);
    else if (before.title !== tab.title || before.url !== tab.url) this.#listener.tabUpdated(tab);
  }

  /** Lets go of the tab that was told first, if there are as many as may be. */
  #makeRoom(): void {
    const [oldest] = this.#told.keys();
    if (this.#told.size >= MOST_TABS && oldest !== undefined) this.#forget(oldest);
  }

  #forget(tabId: number): void {
    if (this.#told.delete(tabId)) this.#listener.tabClosed(tabId);
  }
}

const HIDDEN = { title: '', url: '' };

async function frontTab(): Promise<number | undefined> {
  const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  return tab?.id;
}
