/**
 * Which tabs are for clients: their own, and all others only if the user shows those.
 *
 * The same answer decides what the hub is told of a tab and whether a call may reach it, so that a
 * number that somebody guesses is of no use.
 */

import { CommandError } from '../command';
import { type Groups, takenBack } from './groups';
import type { Visibility } from './tabs';

export class TabAccess {
  readonly #groups: Groups;
  readonly #showsOthers: () => boolean;

  constructor(groups: Groups, showsOthers: () => boolean) {
    this.#groups = groups;
    this.#showsOthers = showsOthers;
  }

  /** Returns what the hub may know of a tab. */
  visibilityOf(tabId: number): Visibility {
    const isClients = this.#groups.isDriven(tabId) || this.#groups.isOffered(tabId);
    if (isClients || this.#showsOthers()) return 'whole';
    // Whoever had it shall hear that it was taken, and no more of it.
    return this.#groups.taken.includes(tabId) ? 'number' : 'hidden';
  }

  isHidden(tabId: number): boolean {
    return this.visibilityOf(tabId) === 'hidden';
  }

  /** Throws for a tab that no call may reach. */
  async check(tabId: number): Promise<void> {
    if (this.#groups.taken.includes(tabId)) throw takenBack(tabId);
    if (!this.isHidden(tabId)) return;
    // One that a client's page has just opened is on its way to be the client's.
    await this.#groups.claimsDone();
    if (this.isHidden(tabId)) throw notShown(tabId);
  }
}

function notShown(tabId: number): CommandError {
  const message =
    `tab ${tabId} is not for AI clients; open one of your own with browser_tab new, or ask the ` +
    "user to give it to you in the extension's window";
  return new CommandError('TAB_NOT_FOUND', message);
}
