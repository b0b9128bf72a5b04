/**
 * As much of `chrome` as the background's tests need, in memory.
 *
 * Tabs and groups behave as the browser's do as far as it matters: a group exists while it has
 * tabs, and lies in one window.
 */

interface FakeTab {
  id: number;
  windowId: number;
  groupId: number;
  pinned: boolean;
  title: string;
  url: string;
  discarded: boolean;
}

/** A content script that was registered. */
interface FakeScript {
  readonly id: string;
  readonly matches: readonly string[];
}

interface FakeGroup {
  id: number;
  windowId: number;
  title: string;
  color: string;
  collapsed: boolean;
}

type Values = Record<string, unknown>;

/** One of the browser's stores. */
export class FakeStorage {
  readonly values = new Map<string, unknown>();

  async get(keys: string | string[] | null): Promise<Values> {
    const wanted = [keys ?? [...this.values.keys()]].flat().filter((key) => this.values.has(key));
    return Object.fromEntries(wanted.map((key) => [key, structuredClone(this.values.get(key))]));
  }

  async set(values: Values): Promise<void> {
    for (const [key, value] of Object.entries(values)) this.values.set(key, structuredClone(value));
  }

  async remove(keys: string | string[]): Promise<void> {
    for (const key of [keys].flat()) this.values.delete(key);
  }
}

/** What the button shows. */
export interface FakeAction {
  text: string;
  color: string;
  title: string;
  /** How often anything was set. */
  calls: number;
}

export class FakeChrome {
  readonly local = new FakeStorage();
  readonly session = new FakeStorage();
  readonly action: FakeAction = { text: '', color: '', title: '', calls: 0 };
  readonly tabs = new Map<number, FakeTab>();
  readonly groups = new Map<number, FakeGroup>();
  readonly scripts = new Map<string, FakeScript>();
  /** Which file was put into which tab. */
  readonly injected: string[] = [];
  /** The tab that people look at. */
  front = -1;
  #next = 100;

  /** Puts itself where the code under test looks for the browser. */
  install(): this {
    Reflect.set(globalThis, 'chrome', this.#api());
    return this;
  }

  /** Opens a tab as a user would. */
  open(tab: Partial<FakeTab> = {}): number {
    const id = this.#next++;
    const rest = { windowId: 1, groupId: -1, pinned: false, discarded: false };
    this.tabs.set(id, { ...rest, title: '', url: 'about:blank', ...tab, id });
    return id;
  }

  /** The title of a tab's group, if it is in one. */
  groupOf(tabId: number): string | undefined {
    return this.groups.get(this.tabs.get(tabId)?.groupId ?? -1)?.title;
  }

  #api(): unknown {
    const { action } = this;
    const note = (part: Partial<FakeAction>) =>
      Promise.resolve(Object.assign(action, part, { calls: action.calls + 1 }));
    return {
      storage: { local: this.local, session: this.session },
      action: {
        setBadgeText: note,
        setBadgeBackgroundColor: note,
        setBadgeTextColor: async () => {},
        setTitle: note,
      },
      tabs: {
        TAB_ID_NONE: -1,
        get: async (id: number) => ({ ...this.#tab(id) }),
        query: async ({ groupId, active }: { groupId?: number; active?: boolean }) =>
          [...this.tabs.values()].filter(
            ({ id, groupId: own }) =>
              (groupId === undefined || own === groupId) && (!active || id === this.front),
          ),
        group: async (wanted: Parameters<FakeChrome['group']>[0]) => this.group(wanted),
        ungroup: async (ids: number[]) => this.ungroup(ids),
      },
      scripting: this.#scripting(),
      tabGroups: {
        TAB_GROUP_ID_NONE: -1,
        get: async (id: number) => ({ ...this.#group(id) }),
        update: async (id: number, part: Partial<FakeGroup>) =>
          Object.assign(this.#group(id), part),
      },
    };
  }

  #scripting(): unknown {
    return {
      getRegisteredContentScripts: async () => [...this.scripts.values()],
      registerContentScripts: async (scripts: FakeScript[]) => {
        for (const script of scripts) {
          const isWrong = script.matches.some(
            (pattern) => !/^https?:\/\/[^:/]+\/\*$/.test(pattern),
          );
          if (isWrong || this.scripts.has(script.id)) throw new Error(`wrong: ${script.id}`);
          this.scripts.set(script.id, script);
        }
      },
      unregisterContentScripts: async ({ ids }: { ids: string[] }) => {
        for (const id of ids) this.scripts.delete(id);
      },
      executeScript: async (how: { target: { tabId: number }; files: string[] }) => {
        this.injected.push(`${how.files.join()} ${how.target.tabId}`);
      },
    };
  }

  group(wanted: {
    tabIds: number[];
    groupId?: number;
    createProperties?: { windowId: number };
  }): number {
    const { tabIds, createProperties } = wanted;
    const id = wanted.groupId ?? this.#next++;
    if (createProperties !== undefined) {
      const { windowId } = createProperties;
      this.groups.set(id, { id, windowId, title: '', color: 'grey', collapsed: false });
    }
    this.#group(id);
    for (const tabId of tabIds) this.#tab(tabId).groupId = id;
    this.#dropEmpty();
    return id;
  }

  ungroup(ids: number[]): void {
    for (const id of ids) this.#tab(id).groupId = -1;
    this.#dropEmpty();
  }

  #tab(id: number): FakeTab {
    const tab = this.tabs.get(id);
    if (tab === undefined) throw new Error(`No tab with id: ${id}.`);
    return tab;
  }

  #group(id: number): FakeGroup {
    const group = this.groups.get(id);
    if (group === undefined) throw new Error(`No group with id: ${id}.`);
    return group;
  }

  #dropEmpty(): void {
    const used = new Set([...this.tabs.values()].map(({ groupId }) => groupId));
    for (const id of this.groups.keys()) if (!used.has(id)) this.groups.delete(id);
  }
}
