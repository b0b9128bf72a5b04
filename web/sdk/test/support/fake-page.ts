/**
 * A page without a browser: what a window does for the SDK, told by the test.
 *
 * Sockets and time are those of the client's own tests, so the test plays the hub too.
 */

import assert from 'node:assert/strict';
import { FakeClock, settled } from '../../../shared/test/support/fake-clock';
import { type FakeSocket, Sockets, welcome } from '../../../shared/test/support/fake-socket';
import { open } from '../../src/link';
import type { Link, Options, Status } from '../../src/options';
import type { Page, Told } from '../../src/page';

/** What the test decides about a page. */
export interface Surroundings {
  /** Where it is. */
  href?: string;
  /** The content of `<meta name="tabwire-hub">`; none means that there is no such element. */
  meta?: string;
  /** Whether anybody answers at the hub's address. */
  answers?: boolean;
  /** What the page's policy blocks. */
  blocked?: string;
  /** States of permissions; others are unknown to the browser. */
  permissions?: Record<string, string>;
  storage?: Map<string, string>;
  locks?: FakeLocks;
  /** What the document and the navigator have besides. */
  onDocument?: object;
  onNavigator?: object;
}

export class FakePage implements Page {
  readonly sockets = new Sockets();
  readonly clock = new FakeClock();
  /** What was asked for with `fetch`. */
  readonly fetched: { url: string; mode: string | undefined }[] = [];
  /** What was said to the window. */
  readonly said: unknown[] = [];
  readonly WebSocket = this.sockets.constructorForClient;
  readonly location: URL;
  readonly storage: Map<string, string>;
  readonly sessionStorage: Page['sessionStorage'];
  readonly document: Page['document'];
  readonly navigator: Page['navigator'];
  readonly around: Surroundings;
  readonly #listeners = new Set<(event: Told) => void>();
  readonly #policyListeners = new Set<(event: { blockedURI: string }) => void>();

  constructor(around: Surroundings = {}) {
    this.around = around;
    this.location = new URL(around.href ?? 'http://127.0.0.1:5173/app/');
    const storage = around.storage ?? new Map<string, string>();
    this.storage = storage;
    this.sessionStorage = {
      getItem: (key) => storage.get(key) ?? null,
      setItem: (key, value) => void storage.set(key, value),
    };
    this.document = {
      querySelector: () =>
        around.meta === undefined ? null : { getAttribute: () => around.meta ?? null },
      addEventListener: (_: string, listener: (event: { blockedURI: string }) => void) =>
        this.#policyListeners.add(listener),
      removeEventListener: (_: string, listener: (event: { blockedURI: string }) => void) =>
        this.#policyListeners.delete(listener),
      ...around.onDocument,
      // Of the document's `querySelector` only this much is used.
    } as unknown as Page['document'];
    this.navigator = {
      permissions: { query: ({ name }) => this.#permission(name) },
      ...(around.locks && { locks: around.locks.manager }),
      ...around.onNavigator,
    };
  }

  async fetch(url: string, init: RequestInit): Promise<unknown> {
    this.fetched.push({ url, mode: init.mode });
    const { blocked } = this.around;
    if (blocked !== undefined) {
      for (const listener of this.#policyListeners) listener({ blockedURI: blocked });
    }
    if (blocked === undefined && this.around.answers) return {};
    throw new TypeError('Failed to fetch');
  }

  addEventListener(_: 'message', listener: (event: Told) => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_: 'message', listener: (event: Told) => void): void {
    this.#listeners.delete(listener);
  }

  postMessage(message: unknown): void {
    this.said.push(message);
    this.hear(message);
  }

  /** Somebody says something to the window. */
  hear(data: unknown, ports: MessagePort[] = [], source: unknown = this): void {
    for (const listener of [...this.#listeners]) listener({ data, ports, source });
  }

  get listens(): boolean {
    return this.#listeners.size > 0;
  }

  async #permission(name: string): Promise<{ state: string }> {
    const state = this.around.permissions?.[name];
    if (state === undefined) throw new TypeError(`${name} is no permission`);
    return { state };
  }
}

/** The locks of one origin, shared by its pages. */
export class FakeLocks {
  readonly held = new Set<string>();

  get manager(): LockManager {
    const request = async (
      name: string,
      { signal }: { signal: AbortSignal },
      keep: () => Promise<void>,
    ) => {
      if (this.held.has(name)) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw signal.reason;
      }
      this.held.add(name);
      await keep();
      this.held.delete(name);
    };
    // The one form that is used, of the many that there are.
    return { request } as unknown as LockManager;
  }
}

/** A link in a page, and what it told. */
export interface Opened {
  readonly page: FakePage;
  readonly link: Link;
  readonly statuses: Status[];
  readonly errors: unknown[];
  /** Opens the newest socket and welcomes the page. */
  greet(): FakeSocket;
}

/** Opens a link in a page, up to its first attempt. */
export async function opened(over: Partial<Options> = {}, page = new FakePage()): Promise<Opened> {
  const statuses: Status[] = [];
  const errors: unknown[] = [];
  const link = open(
    {
      name: 'viewer',
      onStatus: (status) => statuses.push(status),
      onError: (error) => errors.push(error),
      ...over,
    },
    page,
    page.clock,
  );
  await settled();
  const greet = () => {
    const socket = page.sockets.last;
    socket.open();
    welcomeAt(socket);
    return socket;
  };
  return { page, link, statuses, errors, greet };
}

/** Welcomes a peer as one of whom nothing is known. */
export function welcomeAt(socket: FakeSocket): void {
  const { epoch } = socket.of('hello')[0] ?? assert.fail('no hello');
  socket.say(welcome({ received: { epoch: epoch ?? '', sequence: 0 } }));
}

/** A call of a tool. */
export function callOf(toolName: string, args: unknown = {}, callId = 'c1') {
  return { type: 'callTool', callId, target: 'app', toolName, args, deadlineMs: 30_000 } as const;
}
