/**
 * What popup and options page say to the worker, and what it shows them.
 *
 * They talk over one port each: the worker posts a `PanelState` whenever it changes, the pages
 * post wishes. Both sides are ours; a wish passes a check all the same, because content scripts
 * can open ports too.
 */

import { isId, isRecord, isText } from './check';

/** The name of the port. */
export const PANEL = 'panel';

/** Where the connection to the hub stands. */
export type LinkState =
  | { readonly type: 'connected'; readonly name: string; readonly address: string }
  | { readonly type: 'connecting' }
  /** Nothing was found, or what was found did not take us; it is tried again. */
  | { readonly type: 'waiting'; readonly reason: string }
  /** There is no key, and nobody who could give one. */
  | { readonly type: 'unpaired'; readonly reason: string }
  /** It is over until somebody asks. */
  | { readonly type: 'ended'; readonly reason: string };

export type PairingState =
  | { readonly type: 'idle' }
  | { readonly type: 'trying' }
  | { readonly type: 'failed'; readonly message: string };

/** By what the hub knows this browser. */
export type Pairing = 'host' | 'code' | 'none';

export interface PanelTab {
  readonly id: number;
  readonly title: string;
  readonly site: string;
}

export interface PanelClient {
  readonly id: string;
  readonly title: string;
  readonly colour: string;
  readonly tabs: readonly PanelTab[];
}

/** A client that a tab can be given to. */
export interface PanelReceiver {
  readonly id: string;
  readonly title: string;
}

/** The tab that the user looks at, and what can be done with it. */
export interface PanelFront {
  readonly tabId: number;
  /** The origin of its page, where that is not allowed to connect and could be. */
  readonly connectable?: string;
  /** Who can get it. */
  readonly receivers: readonly PanelReceiver[];
}

export interface PanelState {
  readonly link: LinkState;
  readonly paired: Pairing;
  readonly pairing: PairingState;
  readonly stopped: boolean;
  readonly readOnly: boolean;
  /** Who drives which tabs. */
  readonly clients: readonly PanelClient[];
  /** What the user took back. */
  readonly taken: readonly PanelTab[];
  /** Whether clients see tabs that are not theirs. */
  readonly otherTabs: boolean;
  /** All clients that a tab can be given to. */
  readonly receivers: readonly PanelReceiver[];
  /** Origins of web apps that wait for the user to allow them at the hub. */
  readonly waitingApps: readonly string[];
  readonly front?: PanelFront;
}

export type Wish =
  | { readonly type: 'stop' }
  | { readonly type: 'resume' }
  /** Try to connect now. */
  | { readonly type: 'retry' }
  | { readonly type: 'pair'; readonly code: string }
  | { readonly type: 'unpair' }
  | { readonly type: 'take'; readonly tabId: number }
  | { readonly type: 'give'; readonly tabId: number }
  /** Make a tab a client's own. */
  | { readonly type: 'giveTo'; readonly tabId: number; readonly clientId: string }
  /** Let a web app connect through this browser from now on. */
  | { readonly type: 'allow'; readonly origin: string }
  /** Answer a web app that waits at the hub. */
  | { readonly type: 'answerApp'; readonly origin: string; readonly allowed: boolean }
  /** Bring a tab to the front. */
  | { readonly type: 'show'; readonly tabId: number };

export function isWish(value: unknown): value is Wish {
  if (!isRecord(value)) return false;
  switch (value.type) {
    case 'stop':
    case 'resume':
    case 'retry':
    case 'unpair':
      return true;
    case 'pair':
      return isText(value.code);
    case 'allow':
      return isText(value.origin);
    case 'answerApp':
      return isText(value.origin) && typeof value.allowed === 'boolean';
    case 'giveTo':
      return isId(value.tabId) && isText(value.clientId);
    case 'take':
    case 'give':
    case 'show':
      return isId(value.tabId);
    default:
      return false;
  }
}
