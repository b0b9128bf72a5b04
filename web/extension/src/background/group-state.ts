/**
 * What is remembered of groups: who drives which tabs, and what the user has taken back.
 *
 * Kept for as long as the browser runs, for tabs have other numbers in its next life.
 */

import { isId, isListOf, isRecord, isText } from '../check';
import { Kept } from '../storage';
import { type ClientName, COLOURS, type Colour } from './client-titles';

/** A client that drives tabs. */
export interface Driver {
  readonly id: string;
  /** What the hub calls it; absent where an earlier version has met it. */
  readonly name?: string;
  /** What it is called here, where no two have one title. */
  readonly title: string;
  readonly colour: Colour;
  /** Its groups, one per window. */
  readonly groups: readonly number[];
}

interface Ownership {
  readonly tabId: number;
  readonly clientId: string;
  /** The user's group from which the tab came. */
  readonly cameFrom?: number;
}

export interface GroupState {
  readonly drivers: readonly Driver[];
  readonly owned: readonly Ownership[];
  /** Tabs that the user took back. */
  readonly taken: readonly number[];
  /** Tabs that one client has handed over and the other has not used yet; absent is none. */
  readonly offered?: readonly number[];
}

export const NOTHING: GroupState = { drivers: [], owned: [], taken: [] };

export const keptGroups = new Kept<GroupState>('session', 'groups', isState);

/** Returns a driver as the hub names it. */
export function nameOf({ id, name, title }: Driver): ClientName {
  return { id, name: name ?? title };
}

function isState(value: unknown): value is GroupState {
  return (
    isRecord(value) &&
    isListOf(value.drivers, isDriver) &&
    isListOf(value.owned, isOwnership) &&
    isListOf(value.taken, isId) &&
    (value.offered === undefined || isListOf(value.offered, isId))
  );
}

function isDriver(value: unknown): value is Driver {
  return (
    isRecord(value) &&
    isText(value.id) &&
    (value.name === undefined || isText(value.name)) &&
    isText(value.title) &&
    COLOURS.some((colour) => colour === value.colour) &&
    isListOf(value.groups, isId)
  );
}

function isOwnership(value: unknown): value is Ownership {
  return (
    isRecord(value) &&
    isId(value.tabId) &&
    isText(value.clientId) &&
    (value.cameFrom === undefined || isId(value.cameFrom))
  );
}
