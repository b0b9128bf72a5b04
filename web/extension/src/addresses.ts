/**
 * Addresses that are closed to clients, whatever the user and the browser allow.
 *
 * Files and other things of this machine are one kind: a browser can be set to let extensions into
 * them, and Tabwire stays out all the same. The pages of the hub that we are connected to are the
 * other: who drives one of them could grant itself more than it was given. What stands here is
 * about addresses of any kind; which of them are pages that can be driven, `driver/common/restricted-pages.ts`
 * says.
 */

/** What a browser loads from this machine itself. */
const LOCAL_SCHEMES = new Set(['file:', 'content:', 'ftp:']);
/** Addresses that have another one inside, whose they are. */
const WRAPPERS = /^(?:(?:blob|filesystem|view-source):)+/i;
/** What of the hub's own pages is there to be driven: its app, and the examples of the SDK. */
const OPEN_PATHS = ['/viewer/', '/sdk/'];
/** Names of this machine: what browsers take for it without asking anybody. */
const LOOPBACK =
  /^(?:127(?:\.\d+){3}|0\.0\.0\.0|(?:.+\.)?localhost|\[::1?\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/;
const USUAL_PORTS: Readonly<Record<string, string>> = {
  'http:': '80',
  'https:': '443',
  'ws:': '80',
  'wss:': '443',
};

/** Returns the address that counts: a `blob:` is the thing of the page that has made it. */
export function innerAddress(url: string): URL | undefined {
  const inner = url.trim().replace(WRAPPERS, '');
  return URL.canParse(inner) ? new URL(inner) : undefined;
}

/** Returns the port of an address, the usual one of its scheme where it says none. */
export function portOf({ protocol, port }: URL): string {
  return port || (USUAL_PORTS[protocol] ?? '');
}

/** Returns why an address is closed to clients, or nothing if it is not. */
export function whyClosed(url: string, hubPorts: readonly number[]): string | undefined {
  const inner = innerAddress(url);
  if (inner === undefined) return undefined;
  if (LOCAL_SCHEMES.has(inner.protocol)) {
    return `Tabwire stays out of ${inner.protocol} addresses, whatever the browser allows`;
  }
  if (!isHubs(inner, hubPorts) || isOpen(url, inner)) return undefined;
  return "of the hub's own pages clients may use /viewer/ and /sdk/ only";
}

function isHubs(address: URL, hubPorts: readonly number[]): boolean {
  const isHere = LOOPBACK.test(address.hostname.replace(/\.$/, ''));
  return isHere && hubPorts.includes(Number(portOf(address)));
}

/** The path in a `blob:` address is a number, and the page that has made it may be any. */
function isOpen(url: string, { pathname }: URL): boolean {
  return !WRAPPERS.test(url.trim()) && OPEN_PATHS.some((path) => pathname.startsWith(path));
}
