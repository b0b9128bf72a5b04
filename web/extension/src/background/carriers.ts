/**
 * All pages that are carried: who may be, and how many.
 *
 * Decides by the user's settings each time that anything changes, so that a page that may no more
 * is ended at once. Pages of origins that the user has not allowed have no script of ours, and so
 * no way to ask; the popup lets the user allow the page that is in front.
 */

import type { SocketConstructor } from '@tabwire/shared';
import type { LinkState } from '../panel';
import { DEFAULT_SETTINGS, keptSettings, type Settings } from '../settings';
import { allowedOrigins, type Refusal, readOrigin, refusalOfApp } from '../web-apps';
import type { CarriedPage, PageOwner } from './carried-page';
import type { Hub } from './hub-link';

/** Pages that are carried at a time. */
export const MOST_PAGES = 50;

const TOO_MANY: Refusal = {
  word: 'too_many',
  message: `the Tabwire extension carries ${MOST_PAGES} pages already; close some`,
};
const STOPPED: Refusal = {
  word: 'stopped',
  message: 'the user has stopped Tabwire in this browser; press Resume in the extension',
};

const UNPAIRED = 'this browser is not paired with a hub any more';

export interface CarrierParts {
  /** This browser's name for itself. */
  readonly instanceId: string;
  /** The hub that has welcomed us, if one has. */
  hub(): Hub | undefined;
  link(): LinkState;
  settings(): Settings;
  isStopped(): boolean;
  readonly webSocket?: SocketConstructor;
}

export class Carriers implements PageOwner {
  readonly #parts: CarrierParts;
  readonly #pages = new Set<CarriedPage>();

  constructor(parts: CarrierParts) {
    this.#parts = parts;
  }

  /** Whether pages of an origin may have our script answer them. */
  allows(origin: string | undefined): boolean {
    return origin !== undefined && allowedOrigins(this.#parts.settings()).includes(origin);
  }

  /** Takes a page that wants to be carried. */
  take(page: CarriedPage): void {
    if (!page.hasEnded) page.attach(this);
  }

  wants(page: CarriedPage): void {
    if (this.#pages.size >= MOST_PAGES) {
      page.refuse(TOO_MANY);
      return;
    }
    this.#pages.add(page);
    this.#look(page);
  }

  ended(page: CarriedPage): void {
    this.#pages.delete(page);
  }

  /** Looks at every page again: settings, the hub or the user's Stop are others. */
  update(): void {
    for (const page of [...this.#pages]) this.#look(page);
  }

  /** Lets an origin connect from now on. */
  async allow(text: string): Promise<void> {
    const origin = readOrigin(text);
    if (origin === undefined) return;
    const settings = (await keptSettings.load()) ?? DEFAULT_SETTINGS;
    const webApps = [...new Set([...(settings.webApps ?? []), origin])];
    await keptSettings.save({ ...settings, webApps });
  }

  #look(page: CarriedPage): void {
    const { origin } = page;
    if (origin === undefined) {
      page.end(1008, 'only web pages are carried');
      return;
    }
    const refusal = this.#refusalOf(origin);
    if (refusal === undefined) {
      if (page.isWaiting) this.#connect(page);
      // It is there by our key, which the user has taken away.
      else if (this.#parts.link().type === 'unpaired') page.end(1013, UNPAIRED);
      return;
    }
    page.refuse(refusal);
  }

  #refusalOf(origin: string): Refusal | undefined {
    return this.#parts.isStopped() ? STOPPED : refusalOfApp(origin, this.#parts.settings());
  }

  #connect(page: CarriedPage): void {
    const { instanceId, webSocket = WebSocket } = this.#parts;
    const hub = this.#parts.hub();
    const link = this.#parts.link();
    if (hub !== undefined) page.connect({ instanceId, hub, webSocket });
    // While we are connecting ourselves the page waits with us.
    else if ('reason' in link) page.end(1013, `not connected to a hub: ${link.reason}`);
  }
}
