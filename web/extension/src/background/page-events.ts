/**
 * Tells the hub what happens in driven tabs and is not the answer to a call: where they go and
 * what they download.
 */

import { isId, isRecord, isText } from '../check';
import { Kept } from '../storage';

type Emit = (name: string, data: unknown) => void;

/** Tells that a driven tab has gone somewhere. */
export function tellNavigation(emit: Emit, tabId: number, url: string): void {
  emit('navigation', { tabId, url });
}

/** Downloads that were told as begun, so that their end is told too. */
const kept = new Kept<Begun[]>('session', 'downloads', isBegunList);
const MOST_BEGUN = 100;

interface Begun {
  readonly id: number;
  readonly tabId: number;
  readonly filename: string;
  readonly url: string;
}

/**
 * Tells how downloads of driven tabs go; others are the user's own business.
 *
 * Chrome does not say of which tab a download is, but mostly from which page or site.
 */
export class Downloads {
  readonly #emit: Emit;
  readonly #drivenTabs: () => Promise<readonly chrome.tabs.Tab[]>;
  #begun: readonly Begun[] = [];

  constructor(emit: Emit, drivenTabs: () => Promise<readonly chrome.tabs.Tab[]>) {
    this.#emit = emit;
    this.#drivenTabs = drivenTabs;
  }

  async load(): Promise<void> {
    this.#begun = (await kept.load()) ?? [];
  }

  async created(item: chrome.downloads.DownloadItem): Promise<void> {
    // A worker that starts is told of old downloads too.
    if (item.state !== 'in_progress' || this.#begun.some(({ id }) => id === item.id)) return;
    const { id, filename, finalUrl: url, referrer } = item;
    const tabId = sourceOf(referrer || url, await this.#drivenTabs());
    if (tabId === undefined) return;
    const begun: Begun = { id, filename, url, tabId };
    await this.#set([...this.#begun, begun].slice(-MOST_BEGUN));
    this.#emit('download', { ...begun, state: 'in_progress' });
  }

  async changed({ id, filename, state }: chrome.downloads.DownloadDelta): Promise<void> {
    const before = this.#begun.find((begun) => begun.id === id);
    if (before === undefined) return;
    const named = { ...before, filename: filename?.current ?? before.filename };
    const others = this.#begun.filter((begun) => begun.id !== id);
    if (state?.current === undefined || state.current === 'in_progress') {
      await this.#set([...others, named]);
      return;
    }
    await this.#set(others);
    this.#emit('download', { ...named, state: state.current });
  }

  async #set(begun: readonly Begun[]): Promise<void> {
    this.#begun = begun;
    await kept.save([...begun]);
  }
}

/** Returns the tab that shows a page, else one that shows a page of its site. */
function sourceOf(page: string, tabs: readonly chrome.tabs.Tab[]): number | undefined {
  const origin = originOf(page);
  const exact = tabs.find(({ url }) => url === page);
  const sameSite = tabs.find(({ url = '' }) => origin !== undefined && originOf(url) === origin);
  return (exact ?? sameSite)?.id;
}

function originOf(url: string): string | undefined {
  const origin = URL.canParse(url) ? new URL(url).origin : 'null';
  return origin === 'null' ? undefined : origin;
}

function isBegunList(value: unknown): value is Begun[] {
  return Array.isArray(value) && value.every(isBegun);
}

function isBegun(value: unknown): value is Begun {
  return (
    isRecord(value) &&
    isId(value.id) &&
    isId(value.tabId) &&
    isText(value.filename) &&
    isText(value.url)
  );
}
