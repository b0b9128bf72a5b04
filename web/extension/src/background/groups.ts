/**
 * Shows which client drives which tabs: one tab group per client and window.
 *
 * Whose a tab is, the hub decides; here it is shown, and the user can take a tab back or give one,
 * by the popup or by dragging it out of a group or into it: a tab in a client's group is that
 * client's. Groups are never left collapsed: a collapsed group's tabs freeze within seconds, and
 * what is injected into them never answers. All of it is kept for as long as the browser runs.
 */

import { CommandError } from '../command';
import { type ClientName, colourFor, titleFor } from './client-titles';
import { type Driver, type GroupState, keptGroups, NOTHING, nameOf } from './group-state';
import { WorkQueue } from './work-queue';

export interface GroupEvents {
  /** A client drives a tab that it did not drive before; what follows is waited for. */
  claimed(tabId: number): void | Promise<void>;
  /** The user took a tab back. */
  taken(tabId: number): void;
  /** The user lets a client use it, or all of them again. */
  given(tabId: number, client?: ClientName): void;
  /** Something is shown differently now. */
  changed(): void;
}

/** A group that is dragged to another window falls apart on the way and comes together again. */
const DRAG_SETTLES_MS = 400;

export class Groups {
  readonly #events: GroupEvents;
  readonly #turns = new WorkQueue();
  /** Tabs that we move ourselves: what the browser tells of them is no wish of the user. */
  readonly #moving = new Set<number>();
  #state: GroupState = NOTHING;

  constructor(events: GroupEvents) {
    this.#events = events;
  }

  /** Reads what was kept; returns whether the browser has only just started. */
  async load(): Promise<boolean> {
    const found = await keptGroups.load();
    this.#state = found ?? NOTHING;
    if (found === undefined) await keptGroups.save(NOTHING);
    return found === undefined;
  }

  get drivers(): readonly Driver[] {
    return this.#state.drivers;
  }

  get taken(): readonly number[] {
    return this.#state.taken;
  }

  get drivenTabs(): readonly number[] {
    return this.#state.owned.map(({ tabId }) => tabId);
  }

  tabsOf(clientId: string): number[] {
    const own = this.#state.owned.filter((entry) => entry.clientId === clientId);
    return own.map(({ tabId }) => tabId);
  }

  /** Returns the id of the client that drives a tab. */
  ownerOf(tabId: number): string | undefined {
    return this.#state.owned.find((entry) => entry.tabId === tabId)?.clientId;
  }

  isDriven(tabId: number): boolean {
    return this.ownerOf(tabId) !== undefined;
  }

  /** Whether a tab is on its way from one client to another. */
  isOffered(tabId: number): boolean {
    return this.#offered.includes(tabId);
  }

  /** Returns when all that was asked for until now is done. */
  claimsDone(): Promise<void> {
    return this.#turns.take(() => {});
  }

  /** Shows that a client drives a tab; refuses what the user took back. */
  async claim(tabId: number, client: ClientName): Promise<void> {
    if (this.#state.taken.includes(tabId)) throw takenBack(tabId);
    if (this.ownerOf(tabId) === client.id) return;
    await this.#turns.take(() => this.#claim(tabId, client));
  }

  /** Shows that nobody drives a tab any more, or for now: where it was handed over. */
  async release(tabId: number, isOffered = false): Promise<void> {
    await this.#turns.take(async () => {
      const others = this.#offered.filter((id) => id !== tabId);
      this.#set({ offered: isOffered && this.isDriven(tabId) ? [...others, tabId] : others });
      await this.#release(tabId);
    });
  }

  /** Takes a tab back for the user. */
  async take(tabId: number): Promise<void> {
    await this.#turns.take(async () => {
      if (this.#state.taken.includes(tabId)) return;
      this.#set({ taken: [...this.#state.taken, tabId] });
      // Told before the tab strip changes: no call may slip in between.
      this.#events.taken(tabId);
      await this.#release(tabId);
    });
  }

  /** Lets clients use a tab again. */
  async give(tabId: number): Promise<void> {
    await this.#turns.take(() => {
      if (!this.#state.taken.includes(tabId)) return;
      this.#untake(tabId);
      this.#events.given(tabId);
    });
  }

  /** Makes a tab a client's own, by the user's word: taken back, nobody's or another client's. */
  async giveTo(tabId: number, client: ClientName): Promise<void> {
    if (this.ownerOf(tabId) === client.id) return;
    // Who had it is told, and what it does there ends.
    if (this.isDriven(tabId)) await this.take(tabId);
    await this.#turns.take(async () => {
      this.#untake(tabId);
      await this.#claim(tabId, client);
      this.#events.given(tabId, client);
    });
  }

  /** Forgets a tab that is closed. */
  async removed(tabId: number): Promise<void> {
    await this.#turns.take(async () => {
      this.#untake(tabId);
      this.#set({ offered: this.#offered.filter((id) => id !== tabId) });
      await ungroupAll(this.#disown(tabId));
    });
  }

  /** Goes on with a tab that the browser gave another number. */
  async replaced(added: number, removed: number): Promise<void> {
    await this.#turns.take(() => {
      const renumber = (id: number) => (id === removed ? added : id);
      this.#set({
        owned: this.#state.owned.map((entry) => ({ ...entry, tabId: renumber(entry.tabId) })),
        taken: this.#state.taken.map(renumber),
        offered: this.#offered.map(renumber),
      });
    });
  }

  /** Hears that a tab is in another group, or in none; returns when what follows is done. */
  async regrouped(tabId: number, groupId: number): Promise<void> {
    if (this.#moving.has(tabId) || this.#isInPlace(tabId, groupId)) return;
    await new Promise((resolve) => setTimeout(resolve, DRAG_SETTLES_MS));
    const tab = await chrome.tabs.get(tabId).catch(() => undefined);
    if (tab === undefined || this.#moving.has(tabId) || this.#isInPlace(tabId, tab.groupId)) return;
    const driver = this.#driverOfGroup(tab.groupId);
    if (driver === undefined) await this.take(tabId);
    else await this.giveTo(tabId, nameOf(driver));
  }

  /** Hears that a group looks different. */
  async groupUpdated({ id, collapsed }: chrome.tabGroups.TabGroup): Promise<void> {
    if (!collapsed || this.#driverOfGroup(id) === undefined) return;
    await chrome.tabGroups.update(id, { collapsed: false }).catch(() => {});
  }

  /** Hears that a group is no more. */
  async groupRemoved(groupId: number): Promise<void> {
    await this.#turns.take(() => this.#dropGroup(groupId));
  }

  get #offered(): readonly number[] {
    return this.#state.offered ?? [];
  }

  #driverOfGroup(groupId: number): Driver | undefined {
    return this.#state.drivers.find(({ groups }) => groups.includes(groupId));
  }

  #isInPlace(tabId: number, groupId: number): boolean {
    return this.#driverOfGroup(groupId)?.id === this.ownerOf(tabId);
  }

  async #claim(tabId: number, client: ClientName): Promise<void> {
    if (this.#state.taken.includes(tabId)) throw takenBack(tabId);
    if (this.ownerOf(tabId) === client.id) return;
    const tab = await chrome.tabs.get(tabId);
    const driver = this.#meet(client);
    const cameFrom = this.#foreignGroup(tab);
    const left = this.#disown(tabId);
    this.#set({
      owned: [
        ...this.#state.owned,
        { tabId, clientId: client.id, ...(cameFrom !== undefined && { cameFrom }) },
      ],
      offered: this.#offered.filter((id) => id !== tabId),
    });
    await this.#events.claimed(tabId);
    // A pinned tab would lose its pin, and that is the user's.
    if (!tab.pinned) await this.#move(tabId, () => this.#join(tab, tabId, driver));
    await ungroupAll(left);
  }

  async #join(tab: chrome.tabs.Tab, tabId: number, driver: Driver): Promise<void> {
    const existing = await this.#groupIn(tab.windowId, driver);
    if (existing !== undefined) {
      await chrome.tabs.group({ tabIds: [tabId], groupId: existing });
      return;
    }
    const createProperties = { windowId: tab.windowId };
    const groupId = await chrome.tabs.group({ tabIds: [tabId], createProperties });
    this.#setDriver({ ...driver, groups: [...driver.groups, groupId] });
    const { title, colour: color } = driver;
    await chrome.tabGroups.update(groupId, { title, color, collapsed: false });
  }

  async #groupIn(windowId: number, driver: Driver): Promise<number | undefined> {
    for (const groupId of driver.groups) {
      const group = await chrome.tabGroups.get(groupId).catch(() => undefined);
      if (group === undefined) this.#dropGroup(groupId);
      else if (group.windowId === windowId) return groupId;
    }
    return undefined;
  }

  async #release(tabId: number): Promise<void> {
    const entry = this.#state.owned.find((each) => each.tabId === tabId);
    if (entry === undefined) return;
    const { groups = [] } = this.#state.drivers.find(({ id }) => id === entry.clientId) ?? {};
    const left = this.#disown(tabId);
    const tab = await chrome.tabs.get(tabId).catch(() => undefined);
    if (tab !== undefined && groups.includes(tab.groupId)) {
      await this.#move(tabId, () => leave(tabId, entry.cameFrom));
    }
    await ungroupAll(left);
  }

  #untake(tabId: number): void {
    this.#set({ taken: this.#state.taken.filter((id) => id !== tabId) });
  }

  /** Moves a tab; ownership stands even where the browser does not let us show it. */
  async #move(tabId: number, move: () => Promise<void>): Promise<void> {
    this.#moving.add(tabId);
    try {
      await move();
    } catch (error) {
      // Windows of apps and popups have no groups, and while the user drags nothing moves.
      console.debug('tabwire: a tab was not moved:', error);
    } finally {
      this.#moving.delete(tabId);
    }
  }

  #meet({ id, name }: ClientName): Driver {
    const known = this.#state.drivers.find((driver) => driver.id === id);
    if (known !== undefined) return known;
    const title = titleFor(
      name,
      this.#state.drivers.map((driver) => driver.title),
    );
    const driver: Driver = { id, name, title, colour: colourFor(id), groups: [] };
    this.#set({ drivers: [...this.#state.drivers, driver] });
    return driver;
  }

  #foreignGroup({ groupId }: chrome.tabs.Tab): number | undefined {
    const isNone = groupId === chrome.tabGroups.TAB_GROUP_ID_NONE;
    return isNone || this.#driverOfGroup(groupId) !== undefined ? undefined : groupId;
  }

  /** Forgets whose a tab is; returns the groups of a client that has none any more. */
  #disown(tabId: number): readonly number[] {
    const clientId = this.ownerOf(tabId);
    if (clientId === undefined) return [];
    const owned = this.#state.owned.filter((entry) => entry.tabId !== tabId);
    const isIdle = ({ id }: Driver) =>
      id === clientId && !owned.some((entry) => entry.clientId === clientId);
    const left = this.#state.drivers.find(isIdle);
    this.#set({ owned, drivers: this.#state.drivers.filter((driver) => driver !== left) });
    return left?.groups ?? [];
  }

  #dropGroup(groupId: number): void {
    const driver = this.#driverOfGroup(groupId);
    if (driver === undefined) return;
    this.#setDriver({ ...driver, groups: driver.groups.filter((id) => id !== groupId) });
  }

  #setDriver(driver: Driver): void {
    const replace = (each: Driver) => (each.id === driver.id ? driver : each);
    this.#set({ drivers: this.#state.drivers.map(replace) });
  }

  #set(part: Partial<GroupState>): void {
    this.#state = { ...this.#state, ...part };
    keptGroups.save(this.#state).catch((error) => console.error('tabwire:', error));
    this.#events.changed();
  }
}

async function leave(tabId: number, cameFrom: number | undefined): Promise<void> {
  const home =
    cameFrom !== undefined && (await chrome.tabGroups.get(cameFrom).catch(() => undefined));
  if (home) await chrome.tabs.group({ tabIds: [tabId], groupId: home.id });
  else await chrome.tabs.ungroup([tabId]);
}

/** Dissolves groups of a client that is done; what its pages opened may still be in them. */
async function ungroupAll(groups: readonly number[]): Promise<void> {
  for (const groupId of groups) {
    const tabs = await chrome.tabs.query({ groupId }).catch(() => []);
    const tabIds = tabs.flatMap(({ id }) => (id === undefined ? [] : [id]));
    const [first, ...others] = tabIds;
    if (first !== undefined) await chrome.tabs.ungroup([first, ...others]).catch(() => {});
  }
}

/** Why a call in a tab that the user took back is refused. */
export function takenBack(tabId: number): CommandError {
  const message = `the user took tab ${tabId} back; use another tab, or ask them to give it again`;
  return new CommandError('STOPPED_BY_USER', message);
}
