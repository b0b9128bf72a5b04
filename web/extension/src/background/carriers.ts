/**
 * All pages that are carried: who may be, how many, and who has asked in vain.
 *
 * Decides by the user's settings each time that anything changes, so that a page that may no more
 * is ended at once. Origins that have asked are kept beyond the worker's life, for the popup; what
 * the user allows is kept with the settings.
 */

import type { SocketConstructor } from '@tabwire/shared';
import { isListOf, isRecord, isText } from '../check';
import type { LinkState } from '../panel';
import { DEFAULT_SETTINGS, keptSettings, type Settings } from '../settings';
import { Kept } from '../storage';
import { type Refusal, readOrigin, refusalOfApp } from '../web-apps';
import type { CarriedPage, PageOwner } from './carried-page';
import type { Hub } from './hub-link';

/** Pages that are carried at a time. */
export const MOST_PAGES = 50;
/** Origins that wait for the user's word; the oldest is forgotten. */
const MOST_ASKING = 20;

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
  /** `asking` is another. */
  changed(): void;
  readonly webSocket?: SocketConstructor;
}

/** An origin that has asked; put off, it is not shown any more. */
interface Asked {
  readonly origin: string;
  readonly isPutOff: boolean;
}

const keptAsked = new Kept<Asked[]>('session', 'askedApps', (value): value is Asked[] =>
  isListOf(value, isAsked),
);

export class Carriers implements PageOwner {
  readonly #parts: CarrierParts;
  readonly #pages = new Set<CarriedPage>();
  #asked: readonly Asked[] = [];

  constructor(parts: CarrierParts) {
    this.#parts = parts;
  }

  async load(): Promise<void> {
    this.#asked = (await keptAsked.load()) ?? [];
  }

  /** Origins that wait for the user's word, newest first. */
  get asking(): readonly string[] {
    const settings = this.#parts.settings();
    const isOpen = ({ origin, isPutOff }: Asked) =>
      !isPutOff && refusalOfApp(origin, settings)?.word === 'not_allowed_yet';
    return this.#asked.filter(isOpen).map(({ origin }) => origin);
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
    await this.#note(this.#asked.filter((asked) => asked.origin !== origin));
  }

  /** Does not show an origin again for as long as the browser runs. */
  async putOff(origin: string): Promise<void> {
    await this.#note(
      this.#asked.map((asked) => (asked.origin === origin ? { origin, isPutOff: true } : asked)),
    );
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
    if (refusal.word === 'not_allowed_yet') this.#ask(origin);
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

  #ask(origin: string): void {
    if (this.#asked.some((asked) => asked.origin === origin)) return;
    const asked = [{ origin, isPutOff: false }, ...this.#asked].slice(0, MOST_ASKING);
    this.#note(asked).catch((error) => console.debug('tabwire: who asked is not kept:', error));
  }

  async #note(asked: readonly Asked[]): Promise<void> {
    this.#asked = asked;
    this.#parts.changed();
    await keptAsked.save([...asked]);
  }
}

function isAsked(value: unknown): value is Asked {
  return isRecord(value) && isText(value.origin) && typeof value.isPutOff === 'boolean';
}
