/**
 * The page that the SDK runs in: the little that it uses of a window, and where the hub is.
 *
 * Everything that touches the browser goes through `Page`, so that tests can be one. Only what is
 * missing in some browsers is optional.
 */

import type { SocketConstructor } from '@tabwire/shared';

/** A window, as far as the SDK uses it. */
export interface Page {
  readonly WebSocket: SocketConstructor;
  readonly location: Pick<Location, 'href' | 'origin' | 'hostname' | 'pathname'>;
  readonly sessionStorage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly document: Pick<Document, 'querySelector'> & Listening<'securitypolicyviolation', Policy>;
  readonly navigator: {
    readonly permissions?: { query(wanted: { name: string }): Promise<{ readonly state: string }> };
    readonly locks?: Pick<LockManager, 'request'>;
  };
  fetch(url: string, init: RequestInit): Promise<unknown>;
  postMessage(message: unknown, targetOrigin: string): void;
  addEventListener(type: 'message', listener: (event: Told) => void): void;
  removeEventListener(type: 'message', listener: (event: Told) => void): void;
}

interface Listening<Type extends string, Event> {
  addEventListener(type: Type, listener: (event: Event) => void): void;
  removeEventListener(type: Type, listener: (event: Event) => void): void;
}

/** A message to the window. */
export interface Told {
  readonly data: unknown;
  readonly ports: readonly MessagePort[];
  readonly source: unknown;
}

type Policy = Pick<SecurityPolicyViolationEvent, 'blockedURI'>;

const USUAL_HUB = 'http://127.0.0.1:8765';
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** Returns whether the page comes from this machine: a hub takes such pages at once. */
export function isLoopback({ location }: Page): boolean {
  return LOOPBACK.includes(location.hostname);
}

/** Returns the hub's address: the one that is wished, the one that serves the page, the usual. */
export function hubOf({ location, document }: Page, wished: string | undefined): string {
  if (wished !== undefined) return wished;
  const meta = document.querySelector('meta[name="tabwire-hub"]')?.getAttribute('content');
  if (typeof meta === 'string') return meta === '' ? location.origin : meta;
  return location.pathname.startsWith('/viewer/') ? location.origin : USUAL_HUB;
}
