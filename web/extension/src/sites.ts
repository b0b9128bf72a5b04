/**
 * Which sites clients may use: two lists of the user's.
 *
 * An entry is a host name, and stands for its subdomains too; with a port, for that port only.
 * What is denied stays denied, whatever is allowed. Addresses without a host (`about:blank`,
 * `data:`) belong to no site and are not judged here.
 */

import type { Settings } from './settings';

/** Returns an entry as it is kept, or nothing if it is not the name of a site. */
export function readSite(text: string): string | undefined {
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/^\*\./, '')
    .replace(/[/?#].*$/, '');
  if (bare === '' || /[\s@*]/.test(bare)) return undefined;
  try {
    const { hostname, host } = new URL(`http://${bare}`);
    // An address leaves out the port that is usual; here it was meant.
    return bare.endsWith(':80') ? `${hostname}:80` : host;
  } catch {
    return undefined;
  }
}

/** Returns why an address may not be used, or nothing if it may. */
export function refusalOf(url: string, { allowedSites, deniedSites }: Sites): string | undefined {
  const site = siteOf(url);
  if (site === undefined) {
    const isFile = /^file:/i.test(url);
    return isFile && allowedSites.length > 0
      ? 'files are not among what the user allows'
      : undefined;
  }
  const denied = deniedSites.find((entry) => covers(entry, site));
  if (denied !== undefined) return `the user does not allow ${denied}`;
  if (allowedSites.length === 0 || allowedSites.some((entry) => covers(entry, site))) {
    return undefined;
  }
  return `${site.hostname} is not among the sites that the user allows`;
}

export type Sites = Pick<Settings, 'allowedSites' | 'deniedSites'>;

interface Site {
  readonly hostname: string;
  readonly port: string;
}

const USUAL_PORTS: Readonly<Record<string, string>> = {
  'http:': '80',
  'https:': '443',
  'ws:': '80',
  'wss:': '443',
};

function siteOf(url: string): Site | undefined {
  try {
    // `blob:https://host/…` is a page of that host.
    const { protocol, hostname, port } = new URL(url.replace(/^(?:blob|filesystem):/i, ''));
    if (hostname === '') return undefined;
    return { hostname: hostname.replace(/\.$/, ''), port: port || (USUAL_PORTS[protocol] ?? '') };
  } catch {
    return undefined;
  }
}

function covers(entry: string, { hostname, port }: Site): boolean {
  const [, name = '', wantedPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  return hostname === name || hostname.endsWith(`.${name}`);
}
