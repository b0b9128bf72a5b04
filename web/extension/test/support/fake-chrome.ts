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

  async get(keys: string | string[]): Promise<Values> {
    const wanted = [keys].flat().filter((key) => this.values.has(key));
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
    const rest = { windowId: 1, groupId: -1, pinned: false, title: '', url: 'about:blank' };
    this.tabs.set(id, { ...rest, ...tab, id });
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
      tabGroups: {
        TAB_GROUP_ID_NONE: -1,
        get: async (id: number) => ({ ...this.#group(id) }),
        update: async (id: number, part: Partial<FakeGroup>) =>
          Object.assign(this.#group(id), part),
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
