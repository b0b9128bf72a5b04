/**
 * The little that the client needs of a WebSocket, and the address it is opened with.
 *
 * Browsers, workers and Node 22 have a constructor that fits; on older Nodes the `ws` package's
 * does. Tests pass their own.
 */

/** A WebSocket, as far as the client uses it. */
export interface Socket {
  /** Bytes that were sent but are not written yet. */
  readonly bufferedAmount: number;
  /** As what binary frames come in; the client wants `arraybuffer`. */
  binaryType: string;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

/** What makes one. */
export type SocketConstructor = new (url: string, protocols: string[]) => Socket;

/** The subprotocol that this client speaks. */
export const SUBPROTOCOL = 'tabwire.v1';

/** Returns what a socket offers: our protocol, and the token where there is one. */
export function subprotocols(token: string | undefined): string[] {
  return token ? [SUBPROTOCOL, `bearer.${encodeURIComponent(token)}`] : [SUBPROTOCOL];
}

/** Tells whether a hub accepts this as an instance's name. */
export function isInstanceId(text: string): boolean {
  return /^[A-Za-z0-9._:@-]{1,128}$/.test(text);
}

/** Returns the address of an instance's socket at a hub; throws if `hub` is no address. */
export function socketUrl(hub: string, instanceId: string): string {
  const url = new URL(hub);
  url.protocol = url.protocol.replace('http', 'ws');
  if (!/^wss?:$/.test(url.protocol)) throw new TypeError(`${hub} is not a WebSocket address`);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/session/${instanceId}`;
  return url.href;
}
