/**
 * What the driver and the commands need of the rest of the extension; the background provides it.
 */

import type { CallingClient } from '@tabwire/shared';
import type { Emit } from './hub-events';

/** A download that a driven tab has begun. */
export interface BegunDownload {
  readonly id: number;
  readonly tabId: number;
  /** The clients that may know of it: those that had a tab on its site. */
  readonly clients: readonly string[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface DownloadLog {
  /** Returns those that are known, oldest first. */
  begun(): readonly BegunDownload[];
  /** Calls back when one begins or changes, until the returned function is called. */
  listen(listener: () => void): () => void;
}

/** Whether clients may use all of these addresses. */
export async function mayUse(
  services: Pick<Services, 'checkSite'>,
  ...addresses: readonly string[]
): Promise<boolean> {
  try {
    for (const address of addresses) await services.checkSite(address);
    return true;
  } catch {
    return false;
  }
}

type Maybe<T> = Promise<T> | T;

export interface Services {
  /** Puts a tab into the client's group. */
  claim(tabId: number, client: CallingClient): Maybe<void>;
  /** Opens a tab in the client's group. */
  openTab(wanted: {
    readonly url: string;
    readonly active: boolean;
    readonly client: CallingClient;
  }): Promise<chrome.tabs.Tab>;
  /** Returns the tabs that belong to a client. */
  tabsOf(clientId: string): Maybe<readonly number[]>;
  /** Throws `RESTRICTED_PAGE` or `SITE_NOT_ALLOWED` for an address that clients may not use. */
  checkSite(url: string): Maybe<void>;
  /** Whether the user has sites that `checkSite` refuses. */
  limitsSites(): Maybe<boolean>;
  /** Whether the user allows looking only. */
  isReadOnly(): Maybe<boolean>;
  /** Whether the user has stopped everything. */
  isStopped(): Maybe<boolean>;
  /** What driven tabs download. */
  readonly downloads: DownloadLog;
  /** Sends an event to the hub. */
  readonly emit: Emit;
}
