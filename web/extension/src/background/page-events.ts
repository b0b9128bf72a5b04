/**
 * Tells the hub what happens in driven tabs and is not the answer to a call: where they go and
 * what they download.
 */

import { isId, isListOf, isRecord, isText } from '../check';
import type { BegunDownload, DownloadLog } from '../driver/common/services';
import { Kept } from '../storage';

type Emit = (name: string, data: unknown) => void;

/** Tells that a driven tab has gone somewhere. */
export function tellNavigation(emit: Emit, tabId: number, url: string): void {
  emit('navigation', { tabId, url });
}

/** Downloads that were told as begun: their end is told too, and clients may ask for them. */
const kept = new Kept<Begun[]>('session', 'downloads', isBegunList);
const MOST_BEGUN = 100;

interface Begun extends BegunDownload {
  readonly filename: string;
  readonly url: string;
  /** Whether its end was told. */
  readonly ended?: true;
}

/** A tab that a client drives. */
export interface DrivenTab {
  readonly id: number;
  readonly url: string;
  /** The client's id. */
  readonly client: string;
}

/**
 * Tells how downloads of driven tabs go; others are the user's own business.
 *
 * Chrome does not say of which tab a download is, but mostly from which page or site. So it is told
 * to all clients that have a tab on that site, and to no others.
 */
export class Downloads implements DownloadLog {
  readonly #emit: Emit;
  readonly #drivenTabs: () => Promise<readonly DrivenTab[]>;
  readonly #mayTell: (url: string) => boolean;
  readonly #listeners = new Set<() => void>();
  #begun: readonly Begun[] = [];

  constructor(
    emit: Emit,
    drivenTabs: () => Promise<readonly DrivenTab[]>,
    mayTell: (url: string) => boolean,
  ) {
    this.#emit = emit;
    this.#drivenTabs = drivenTabs;
    this.#mayTell = mayTell;
  }

  async load(): Promise<void> {
    this.#begun = (await kept.load()) ?? [];
  }

  begun(): readonly BegunDownload[] {
    return this.#begun;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  async created(item: chrome.downloads.DownloadItem): Promise<void> {
    // A worker that starts is told of old downloads too.
    if (item.state !== 'in_progress' || this.#begun.some(({ id }) => id === item.id)) return;
    const { id, filename, finalUrl: url, referrer } = item;
    // A page may well offer what another site has.
    if (![item.url, url, referrer].every((each) => this.#mayTell(each))) return;
    const source = sourceOf(referrer || url, await this.#drivenTabs());
    if (source === undefined) return;
    const begun: Begun = { id, filename, url, ...source, at: Date.parse(item.startTime) };
    await this.#set([...this.#begun, begun].slice(-MOST_BEGUN));
    this.#tell(begun, 'in_progress');
  }

  async changed({ id, filename, state }: chrome.downloads.DownloadDelta): Promise<void> {
    const before = this.#begun.find((begun) => begun.id === id);
    if (before === undefined || before.ended === true) return;
    const named = { ...before, filename: filename?.current ?? before.filename };
    const hasEnded = state?.current !== undefined && state.current !== 'in_progress';
    const now: Begun = hasEnded ? { ...named, ended: true } : named;
    await this.#set(this.#begun.map((begun) => (begun.id === id ? now : begun)));
    if (hasEnded) this.#tell(named, state.current ?? '');
  }

  #tell({ id, filename, url, tabId }: Begun, state: string): void {
    this.#emit('download', { id, filename, url, tabId, state });
  }

  async #set(begun: readonly Begun[]): Promise<void> {
    this.#begun = begun;
    for (const listener of [...this.#listeners]) listener();
    await kept.save([...begun]);
  }
}

/** Returns the tab that shows a page, else one of its site; and the clients that have such tabs. */
function sourceOf(
  page: string,
  tabs: readonly DrivenTab[],
): Pick<Begun, 'clients' | 'tabId'> | undefined {
  const origin = originOf(page);
  const isOfSite = ({ url }: DrivenTab) => origin !== undefined && originOf(url) === origin;
  const exact = tabs.filter(({ url }) => url === page);
  const all = [...exact, ...tabs.filter(isOfSite)];
  const [first] = all;
  return first && { tabId: first.id, clients: [...new Set(all.map(({ client }) => client))] };
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
    isListOf(value.clients, isText) &&
    isId(value.at) &&
    isText(value.filename) &&
    isText(value.url)
  );
}
