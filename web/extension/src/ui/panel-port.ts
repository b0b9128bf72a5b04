/**
 * A page's side of the port to the worker: opened again whenever the worker has died.
 */

import { isListOf, isRecord, isText } from '../check';
import { PANEL, type PanelState, type Wish } from '../panel';

const OPEN_AGAIN_MS = 200;

export class PanelPort {
  readonly #show: (state: PanelState) => void;
  #port: chrome.runtime.Port;

  constructor(show: (state: PanelState) => void) {
    this.#show = show;
    this.#port = this.#open();
  }

  wish(wish: Wish): void {
    this.#port.postMessage(wish);
  }

  #open(): chrome.runtime.Port {
    const port = chrome.runtime.connect({ name: PANEL });
    port.onMessage.addListener((message: unknown) => {
      if (isPanelState(message)) this.#show(message);
    });
    port.onDisconnect.addListener(() => {
      setTimeout(() => {
        this.#port = this.#open();
      }, OPEN_AGAIN_MS);
    });
    return port;
  }
}

/** Looks only as far as tells our own worker's message from anything else. */
function isPanelState(value: unknown): value is PanelState {
  return (
    isRecord(value) &&
    isRecord(value.link) &&
    isRecord(value.pairing) &&
    isText(value.paired) &&
    isListOf(value.clients, isRecord) &&
    isListOf(value.taken, isRecord) &&
    isListOf(value.receivers, isRecord) &&
    isListOf(value.waitingApps, isText)
  );
}
