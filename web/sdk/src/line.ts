/**
 * The way to the hub: a socket of the page's own, or one that the extension carries.
 *
 * Makes the client's sockets and notes how far the newest got, which the client does not tell.
 * Which way is tried is decided anew before each attempt. It reads no message but `bye`.
 */

import type { Clock, Socket, SocketConstructor } from '@tabwire/shared';
import { askForCarrier, type Port, PortSocket } from './carrier';
import { isLoopback, type Page } from './page';

export class Line {
  readonly hub: string;
  /** What the client makes sockets with. */
  readonly webSocket: SocketConstructor;
  /** Whether the page should not try by itself: the hub or the browser would refuse it. */
  needsCarrier: boolean;
  /** Whether the newest socket goes through the extension. */
  isCarried = false;
  /** Whether the newest socket was accepted. */
  wasOpen = false;
  /** With which word the hub, or the extension, ended the newest, if one did. */
  word: string | undefined;
  /** Called when a socket of the page's own does not open, before the client knows. */
  failed = () => {};
  readonly #page: Page;
  readonly #clock: Clock;
  #port: Port | undefined;

  constructor(page: Page, hub: string, clock: Clock) {
    this.#page = page;
    this.#clock = clock;
    this.hub = hub;
    this.needsCarrier = !isLoopback(page) && !hub.startsWith(page.location.origin);
    this.webSocket = new Proxy(page.WebSocket, {
      construct: (WebSocket, [url, protocols]) =>
        this.#observe(this.#dial(WebSocket, url, protocols)),
    });
  }

  /** Chooses the way for the next attempt; returns the hub's address. */
  async find(): Promise<string> {
    this.wasOpen = false;
    this.word = undefined;
    this.#port = this.needsCarrier ? await askForCarrier(this.#page, this.#clock) : undefined;
    this.isCarried = this.#port !== undefined;
    return this.hub;
  }

  #dial(WebSocket: SocketConstructor, url: string, protocols: string[]): Socket {
    const instanceId = url.slice(url.lastIndexOf('/') + 1);
    return this.#port ? new PortSocket(this.#port, instanceId) : new WebSocket(url, protocols);
  }

  #observe(socket: Socket): Socket {
    socket.addEventListener('open', () => {
      this.wasOpen = true;
    });
    // Where a page's policy forbids a socket, Chrome tells of the error but never of the end.
    socket.addEventListener('error', () => this.wasOpen || this.failed());
    socket.addEventListener('message', ({ data }) => {
      this.word = wordOfBye(data);
    });
    return socket;
  }
}

/** The hub writes the type first and the code second; what is nested deeper is no word of its own. */
function wordOfBye(data: unknown): string | undefined {
  return /^\{"type":"bye","code":"(\w+)"/.exec(`${data}`)?.[1];
}
