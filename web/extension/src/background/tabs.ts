/**
 * Tells the hub which tabs there are, as far as the user lets it know.
 *
 * Tabs that belong to no client are only counted, unless the user shows them. Of tabs on sites
 * that the user keeps from clients, and of those that they took back, neither title nor address is
 * told. Keeps a copy of what was told, so that only changes are told and everything can be told
 * anew at once. One tab is in front: the active one of the window that had the focus last.
 */

import type { Client, Tab } from '@tabwire/shared';
import { WorkQueue } from './work-queue';

/** What is told to. */
export interface Listener
  extends Pick<Client, 'tabCreated' | 'tabUpdated' | 'tabClosed' | 'tabFocused'> {
  /** Tells how many tabs there are besides. */
  tabsHidden(count: number): void;
}

/** What the hub may know of a tab: title and address, that it is there, or only how many. */
export type Visibility = 'whole' | 'number' | 'hidden';

export interface TabRules {
  visibilityOf(tabId: number): Visibility;
  /** Whether clients may know an address. */
  mayTell(url: string): boolean;
}

/** A hub keeps no more, and leaves a browser that tells more. */
const MOST_TABS = 1000;
/** A tab that a client opens is nobody's for a moment. */
const COUNT_AFTER_MS = 250;

export class TabReporter {
  readonly #listener: Listener;
  readonly #rules: TabRules;
  readonly #told = new Map<number, Tab>();
  /** As what each tab was seen last. */
  readonly #seen = new Map<number, Visibility>();
  /** Questions to the browser overtake each other; what is told must not. */
  readonly #turns = new WorkQueue();
  #isTelling = false;
  #front: number | undefined;
  /** How many hidden ones were told. */
  #toldCount: number | undefined;
  #isCounting = false;

  constructor(listener: Listener, rules: TabRules) {
    this.#listener = listener;
    this.#rules = rules;
  }

  /** Whether anything is told yet: nothing is before all tabs were. */
  get isTelling(): boolean {
    return this.#isTelling;
  }

  /** Tells all tabs there are; in each life first, and when others may be told. */
  async tellAll(): Promise<void> {
    await this.#turns.take(async () => {
      this.#isTelling = true;
      const [tabs, front] = await Promise.all([chrome.tabs.query({}), frontTab()]);
      this.#front = front;
      const isHidden = ({ id = -1 }: chrome.tabs.Tab) => this.#isHidden(id);
      const byUse = tabs.sort((a, b) => (a.lastAccessed ?? 0) - (b.lastAccessed ?? 0));
      const shown = byUse.filter((tab) => !isHidden(tab)).slice(-MOST_TABS);
      for (const tab of [...byUse.filter(isHidden), ...shown]) this.#tell(tab);
      this.#count();
    });
  }

  /** Tells everything anew: the hub has lost some of it. */
  resync(): void {
    for (const tab of this.#told.values()) this.#listener.tabCreated(tab);
    this.#tellCount();
  }

  /** Looks again at what may be known of which tab; returns when what is new has been told. */
  review(): Promise<void> {
    return this.#turns.take(async () => {
      for (const [id, visibility] of [...this.#seen]) {
        if (this.#rules.visibilityOf(id) !== visibility) await this.#look(id);
      }
    });
  }

  /** Looks at one tab; returns when what is new of it has been told. */
  look(tabId: number): Promise<void> {
    return this.#turns.take(() => this.#look(tabId));
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
      await this.#look(added);
    });
  }

  /** Notes that another tab, or a tab of another window, may be in front now. */
  refocus(): Promise<void> {
    return this.#turns.take(async () => {
      const front = await frontTab();
      if (front === undefined || front === this.#front) return;
      this.#front = front;
      const left = [...this.#told.values()].filter(({ active }) => active);
      for (const [id, tab] of this.#told) this.#told.set(id, { ...tab, active: id === front });
      if (this.#told.has(front)) this.#listener.tabFocused(front);
      // What is in front now is not for the hub to know, but what is no more.
      else for (const tab of left) this.#listener.tabUpdated({ ...tab, active: false });
    });
  }

  get #hidden(): number {
    return [...this.#seen.values()].filter((visibility) => visibility === 'hidden').length;
  }

  #isHidden(tabId: number): boolean {
    return this.#rules.visibilityOf(tabId) === 'hidden';
  }

  async #look(tabId: number): Promise<void> {
    const tab = await chrome.tabs.get(tabId).catch(() => undefined);
    if (tab !== undefined) this.#tell(tab);
  }

  #tell(chromeTab: chrome.tabs.Tab): void {
    const { id } = chromeTab;
    if (!this.#isTelling || id === undefined || id === chrome.tabs.TAB_ID_NONE) return;
    const visibility = this.#rules.visibilityOf(id);
    if (this.#seen.get(id) !== visibility) this.#count();
    this.#seen.set(id, visibility);
    if (visibility === 'hidden') {
      this.#close(id);
      return;
    }
    const url = chromeTab.url || chromeTab.pendingUrl || '';
    const isShown = visibility === 'whole' && this.#rules.mayTell(url);
    const shown = isShown ? { title: chromeTab.title ?? '', url } : UNNAMED;
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
    if (this.#told.size >= MOST_TABS && oldest !== undefined) this.#close(oldest);
  }

  #close(tabId: number): void {
    if (this.#told.delete(tabId)) this.#listener.tabClosed(tabId);
  }

  #forget(tabId: number): void {
    this.#close(tabId);
    if (this.#seen.delete(tabId)) this.#count();
  }

  /** Tells soon how many are hidden, and once for many changes. */
  #count(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    setTimeout(() => {
      this.#isCounting = false;
      if (this.#hidden !== this.#toldCount) this.#tellCount();
    }, COUNT_AFTER_MS);
  }

  #tellCount(): void {
    this.#toldCount = this.#hidden;
    this.#listener.tabsHidden(this.#toldCount);
  }
}

const UNNAMED = { title: '', url: '' };

async function frontTab(): Promise<number | undefined> {
  const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  return tab?.id;
}
