/**
 * The worker's side of popup and options page: shows them how things stand, hears their wishes.
 */

import { messageOf } from '../check';
import { isWish, PANEL, type PanelState, type Wish } from '../panel';

export interface PanelParts {
  state(): Promise<PanelState>;
  fulfil(wish: Wish): Promise<void>;
}

export class Panels {
  readonly #parts: PanelParts;
  readonly #ports = new Set<chrome.runtime.Port>();
  #isDue = false;

  constructor(parts: PanelParts) {
    this.#parts = parts;
  }

  /** Takes a port if it is one of our own pages'. */
  open(port: chrome.runtime.Port): void {
    if (!isOwnPage(port)) return;
    this.#ports.add(port);
    port.onDisconnect.addListener(() => this.#ports.delete(port));
    port.onMessage.addListener((message: unknown) => {
      if (isWish(message)) this.#fulfil(message);
    });
    this.update();
  }

  /** Shows everyone how things stand, soon and once for many changes. */
  update(): void {
    if (this.#isDue || this.#ports.size === 0) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.#post().catch((error) => console.error('tabwire: a page is not told:', error));
    });
  }

  #fulfil(wish: Wish): void {
    this.#parts
      .fulfil(wish)
      .catch((error) => console.error(`tabwire: ${wish.type}:`, messageOf(error)));
  }

  async #post(): Promise<void> {
    const state = await this.#parts.state();
    for (const port of this.#ports) port.postMessage(state);
  }
}

/** A content script can open a port of any name, but not from one of our pages. */
function isOwnPage({ name, sender }: chrome.runtime.Port): boolean {
  return name === PANEL && sender?.url?.startsWith(chrome.runtime.getURL('')) === true;
}
