/**
 * What the address of the page says: who it is, which hub, which model.
 *
 * `?name=` is the wished name of the session; `?sessionId=` comes from
 * `get_browser_connection_url` and makes the page that client's own; `?hub=` is another hub than
 * the one that serves the page, on this machine; `?model=` is a built-in model or an address.
 */

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** What the page is told by its address. */
export interface PageAddress {
  readonly name: string;
  readonly instanceId?: string;
  readonly hub?: string;
  readonly model?: string;
}

/** Reads the part of an address after the question mark. */
export function readPageAddress(search: string): PageAddress {
  const given = new URLSearchParams(search);
  const instanceId = given.get('sessionId') || given.get('instanceId');
  const hub = given.get('hub');
  const model = given.get('model');
  return {
    name: given.get('name') || 'viewer',
    ...(instanceId ? { instanceId } : {}),
    ...(hub ? { hub } : {}),
    ...(model ? { model } : {}),
  };
}

/**
 * Checks the hub that an address names: one on this machine, or the one that serves the page.
 *
 * Whoever makes a link could have the page join a hub of theirs, which would then see and change
 * what the user does in it.
 */
export function checkHub(hub: string, ownOrigin: string): void {
  if (isOwnHub(hub, ownOrigin)) return;
  throw new Error(`this page does not join the hub at ${hub}, which is not on this machine`);
}

/** Returns whether a hub is the one that serves the page; that is meant where none is named. */
export function isServingHub(hub: string | undefined, ownOrigin: string): boolean {
  return hub === undefined || readHub(hub)?.origin === ownOrigin;
}

/** Returns whether a host is this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.includes(hostname);
}

function isOwnHub(hub: string, ownOrigin: string): boolean {
  if (isServingHub(hub, ownOrigin)) return true;
  const address = readHub(hub);
  return address?.protocol === 'http:' && isLoopback(address.hostname);
}

function readHub(hub: string): URL | undefined {
  // A socket has the origin of its server's pages.
  const address = hub.replace(/^ws/i, 'http');
  return /^https?:/i.test(address) && URL.canParse(address) ? new URL(address) : undefined;
}
