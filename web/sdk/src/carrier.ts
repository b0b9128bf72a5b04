/**
 * The extension as carrier: a socket for pages that may not open one to the hub themselves.
 *
 * The page asks its own window `{tabwire: 'carrier?', id}`; the extension's content script answers
 * `{tabwire: 'carrier!', id}` and hands over a port, with the answer or in a message of the same id
 * after it. Each port is one connection: the page says `{type: 'open', instanceId}`, the carrier
 * `{type: 'open'}` when the hub has answered; then both exchange `{type: 'frame', data}` until one
 * says `{type: 'close', code, reason}`. The page proves nothing here: its origin is the carrier's
 * to attest.
 */

import { type Clock, isRecord, type Socket } from '@tabwire/shared';
import type { Page, Told } from './page';

const ANSWER_WITHIN_MS = 300;
const PORT_WITHIN_MS = 3_000;

/** The little that is used of a `MessagePort`. */
export type Port = Pick<MessagePort, 'postMessage' | 'close' | 'onmessage'>;

/** Looks for the extension; returns a port to it, or nothing where there is none. */
export function askForCarrier(page: Page, clock: Clock): Promise<Port | undefined> {
  // Tells answers apart and keeps nothing secret; `randomUUID` is for secure pages only.
  const id = `${Math.random()}`;
  return new Promise((resolve) => {
    const settle = (port?: Port) => {
      cancel();
      page.removeEventListener('message', listen);
      resolve(port);
    };
    const listen = ({ data, ports, source }: Told) => {
      // The question comes back too: the window is its own mailbox.
      if (source !== page || !isRecord(data) || data.id !== id || data.tabwire === 'carrier?')
        return;
      cancel();
      if (ports[0] !== undefined) settle(ports[0]);
      else cancel = clock.after(PORT_WITHIN_MS, settle);
    };
    let cancel = clock.after(ANSWER_WITHIN_MS, settle);
    page.addEventListener('message', listen);
    page.postMessage({ tabwire: 'carrier?', id }, '/');
  });
}

interface Heard {
  readonly data: unknown;
  readonly code: number;
  readonly reason: string;
}

/** A socket whose frames an extension carries. */
export class PortSocket implements Socket {
  readonly bufferedAmount = 0;
  binaryType = '';
  readonly #port: Port;
  readonly #listeners: [type: string, listener: (heard: Heard) => void][] = [];

  constructor(port: Port, instanceId: string) {
    this.#port = port;
    port.onmessage = ({ data }) => this.#hear(data);
    port.postMessage({ type: 'open', instanceId });
  }

  addEventListener(type: string, listener: (heard: Heard) => void): void {
    this.#listeners.push([type, listener]);
  }

  send(data: unknown): void {
    this.#port.postMessage({ type: 'frame', data });
  }

  close(code = 1000, reason = ''): void {
    this.#port.postMessage({ type: 'close', code, reason });
    this.#port.close();
  }

  #hear(told: unknown): void {
    if (!isRecord(told)) return;
    const { type, data, code, reason } = told;
    if (type === 'close') this.#port.close();
    const event = { data, code: Number(code ?? 1006), reason: `${reason ?? ''}` };
    const wanted = type === 'frame' ? 'message' : type;
    for (const [known, listener] of this.#listeners) if (known === wanted) listener(event);
  }
}
