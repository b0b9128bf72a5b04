/**
 * All that the driver knows of a tab and has in force there: one object per tab, with one end.
 *
 * Whoever has something to remember of tabs declares a `TabPart` with how long it lasts and, where
 * forgetting alone does not do, what its end undoes. Parts are never cleaned up elsewhere: the tab's
 * end ends all of them, and within the tab's life its document, the attachment of the debugger and
 * the use by a client each end theirs. A `KeptTabPart` is in `storage.session` too and outlives the
 * worker; one that ended before this worker had read it ends when it is read.
 */

import { ignore } from '../common/time-limits';

/** How long a part lasts; all others lie within the tab's. */
export type Lifetime = 'attachment' | 'document' | 'tab' | 'use';

/** What ends a lifetime. */
export type Ending =
  | { readonly type: 'closed' }
  /** The top frame shows another document. */
  | { readonly type: 'left' }
  | { readonly type: 'detached'; readonly reason: string }
  /** The client has let go of the tab, or the user has taken it back. */
  | { readonly type: 'released' }
  /** The user has stopped everything. */
  | { readonly type: 'stopped' };

const ENDED_LIFETIME = {
  closed: 'tab',
  left: 'document',
  detached: 'attachment',
  released: 'use',
  stopped: 'use',
} as const satisfies Record<Ending['type'], Lifetime>;

/** Undoes what a part had in force; it is forgotten already. */
type Undo<T> = (value: T, tabId: number, ending: Ending) => unknown;

/** One part of one tab, without its type. */
interface HeldPart {
  readonly value: unknown;
  readonly part: Pick<TabPart<unknown>, 'keepsAttached' | 'lifetimes'>;
  undo(ending: Ending): unknown;
}

class TabState {
  readonly parts = new Map<object, HeldPart>();
}

const tabs = new Map<number, TabState>();

/** Something that tabs have, each its own; it lasts until the first of its lifetimes ends. */
export class TabPart<T> {
  readonly lifetimes: readonly Lifetime[];
  /** Whether the debugger must stay attached to a tab that has it, though nobody uses it. */
  readonly keepsAttached: boolean = false;
  protected readonly undo: Undo<T>;

  constructor(lifetimes: readonly Lifetime[], undo: Undo<T> = () => {}) {
    this.lifetimes = lifetimes;
    this.undo = undo;
  }

  get(tabId: number): T | undefined {
    // Only `set` of this very part has put anything there.
    return tabs.get(tabId)?.parts.get(this)?.value as T | undefined;
  }

  has(tabId: number): boolean {
    return tabs.get(tabId)?.parts.has(this) === true;
  }

  /** Returns what a tab has, which begins now if it has nothing. */
  ensure(tabId: number, begin: () => T): T {
    const known = this.get(tabId);
    if (known !== undefined) return known;
    const value = begin();
    this.set(tabId, value);
    return value;
  }

  set(tabId: number, value: T): unknown {
    const tab = tabs.get(tabId) ?? new TabState();
    tabs.set(tabId, tab);
    const undo = (ending: Ending) => this.undo(value, tabId, ending);
    return tab.parts.set(this, { value, part: this, undo });
  }

  /** Forgets what a tab has, and undoes nothing; returns whether there was anything. */
  delete(tabId: number): boolean {
    const tab = tabs.get(tabId);
    if (tab?.parts.delete(this) !== true) return false;
    if (tab.parts.size === 0) tabs.delete(tabId);
    return true;
  }

  /** Returns the tabs that have it. */
  tabs(): number[] {
    return knownTabs().filter((tabId) => this.has(tabId));
  }
}

interface KeptOptions<T> {
  readonly lifetimes: readonly Lifetime[];
  readonly keepsAttached?: boolean;
  /** Reads what was kept; nothing if it is not of this kind. */
  readonly read: (kept: unknown) => T | undefined;
  /** Makes what is kept of it; all of it if absent. */
  readonly pack?: (value: T) => unknown;
  readonly undo?: Undo<T>;
}

/** The parts that outlive the worker, by their names. */
const keptParts = new Map<string, Pick<KeptTabPart<unknown>, 'end' | 'has' | 'restore'>>();
/** Keys of what ended before it was read, with what ended it, if that was not a plain `delete`. */
let endedEarly: Map<string, Ending | undefined> | undefined = new Map();

/** A part that outlives the worker, under `driver.<name>.<tab>`. */
export class KeptTabPart<T> extends TabPart<T> {
  override readonly keepsAttached: boolean;
  readonly #name: string;
  readonly #options: KeptOptions<T>;

  constructor(name: string, options: KeptOptions<T>) {
    super(options.lifetimes, options.undo);
    this.keepsAttached = options.keepsAttached === true;
    this.#name = name;
    this.#options = options;
    keptParts.set(name, this);
  }

  /** Returns when it is kept; nobody has to wait for that. */
  override set(tabId: number, value: T): Promise<void> {
    super.set(tabId, value);
    const { pack = () => value } = this.#options;
    const keeping = chrome.storage.session.set({ [this.#key(tabId)]: pack(value) });
    ignore(keeping);
    return keeping;
  }

  /** Sets it for this worker only, where the next one may know what was before. */
  setUnkept(tabId: number, value: T): void {
    super.set(tabId, value);
  }

  override delete(tabId: number): boolean {
    this.end(tabId);
    return super.delete(tabId);
  }

  /** Ends what is kept of a tab. */
  end(tabId: number, ending?: Ending): void {
    if (ending !== undefined && !isEnded(this.lifetimes, ending)) return;
    const key = this.#key(tabId);
    if (endedEarly === undefined) ignore(chrome.storage.session.remove(key));
    else if (!endedEarly.has(key)) endedEarly.set(key, ending);
  }

  /** Takes over what an earlier worker has kept. */
  restore(tabId: number, kept: unknown): void {
    const value = this.#options.read(kept);
    if (value === undefined || this.has(tabId)) return;
    const key = this.#key(tabId);
    if (endedEarly?.has(key) !== true) super.set(tabId, value);
    const ending = endedEarly?.get(key);
    if (ending !== undefined) this.undo(value, tabId, ending);
  }

  #key(tabId: number): string {
    return `driver.${this.#name}.${tabId}`;
  }
}

/** Returns the tabs that anything is known of. */
export function knownTabs(): number[] {
  return [...tabs.keys()];
}

/** Tells whether the debugger must stay attached to a tab for what is in force there. */
export function keepsAttached(tabId: number): boolean {
  return [...(tabs.get(tabId)?.parts.values() ?? [])].some(({ part }) => part.keepsAttached);
}

/** Ends a lifetime of a tab, with all parts that last no longer; returns when all is undone. */
export async function endLifetime(tabId: number, ending: Ending): Promise<void> {
  const all = [...(tabs.get(tabId)?.parts ?? [])];
  const over = all.filter(([, { part }]) => isEnded(part.lifetimes, ending));
  // All are forgotten before the first is undone: none may find another still in force.
  for (const [part] of over) tabs.get(tabId)?.parts.delete(part);
  if (over.length === all.length) tabs.delete(tabId);
  for (const part of keptParts.values()) part.end(tabId, ending);
  await Promise.allSettled(over.map(async ([, part]) => part.undo(ending)));
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerTabState(): void {
  const close = (tabId: number) => ignore(endLifetime(tabId, { type: 'closed' }));
  chrome.tabs.onRemoved.addListener(close);
  chrome.tabs.onReplaced.addListener((_added, removed) => close(removed));
  chrome.webNavigation.onCommitted.addListener(({ tabId, frameId, documentLifecycle }) => {
    if (frameId !== 0 || documentLifecycle === 'prerender') return;
    ignore(endLifetime(tabId, { type: 'left' }));
  });
}

let restored: Promise<void> | undefined;

/** Settles when what an earlier worker has kept is known. */
export function tabsRestored(): Promise<void> {
  restored ??= restoreTabs();
  return restored;
}

/** Reads what an earlier worker has kept. */
export async function restoreTabs(): Promise<void> {
  try {
    for (const [key, kept] of Object.entries(await chrome.storage.session.get(null))) {
      const [part, tabId] = readKey(key);
      part?.restore(tabId, kept);
    }
  } finally {
    const ended = [...(endedEarly?.keys() ?? [])].filter((key) => {
      const [part, tabId] = readKey(key);
      return part?.has(tabId) === false;
    });
    endedEarly = undefined;
    ignore(chrome.storage.session.remove(ended));
  }
}

function readKey(key: string) {
  const [, name = '', tabId] = /^driver\.([a-z]+)\.(\d+)$/.exec(key) ?? [];
  return [keptParts.get(name), Number(tabId)] as const;
}

function isEnded(lifetimes: readonly Lifetime[], { type }: Ending): boolean {
  return type === 'closed' || lifetimes.includes(ENDED_LIFETIME[type]);
}
