/**
 * Which addresses clients may use: those that are closed to all of them first, then two lists of
 * the user's.
 *
 * An entry is a host name, and stands for its subdomains too; with a port, for that port only.
 * What is denied stays denied, whatever is allowed. Addresses without a host (`about:blank`,
 * `data:`) belong to no site and are on no list.
 */

import { innerAddress, portOf, whyClosed } from './addresses';
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

/** Why an address may not be used: for anybody, or by the user's word. */
export interface Refused {
  readonly code: 'RESTRICTED_PAGE' | 'SITE_NOT_ALLOWED';
  readonly reason: string;
}

export type Sites = Pick<Settings, 'allowedSites' | 'deniedSites'>;

/** What addresses are judged by. */
export interface AddressRules extends Sites {
  /** Where the hub is that we are connected to, or where it may be. */
  readonly hubPorts?: readonly number[];
}

/** Returns why an address may not be used, or nothing if it may; nobody else decides that. */
export function refusalOf(url: string, rules: AddressRules): Refused | undefined {
  const closed = whyClosed(url, rules.hubPorts ?? []);
  if (closed !== undefined) return { code: 'RESTRICTED_PAGE', reason: closed };
  const reason = byLists(url, rules);
  return reason === undefined ? undefined : { code: 'SITE_NOT_ALLOWED', reason };
}

function byLists(url: string, { allowedSites, deniedSites }: Sites): string | undefined {
  const site = siteOf(url);
  if (site === undefined) return undefined;
  const denied = deniedSites.find((entry) => covers(entry, site));
  if (denied !== undefined) return `the user does not allow ${denied}`;
  if (allowedSites.length === 0 || allowedSites.some((entry) => covers(entry, site))) {
    return undefined;
  }
  return `${site.hostname} is not among the sites that the user allows`;
}

interface Site {
  readonly hostname: string;
  readonly port: string;
}

function siteOf(url: string): Site | undefined {
  const address = innerAddress(url);
  if (address === undefined || address.hostname === '') return undefined;
  return { hostname: address.hostname.replace(/\.$/, ''), port: portOf(address) };
}

function covers(entry: string, { hostname, port }: Site): boolean {
  const [, name = '', wantedPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  return hostname === name || hostname.endsWith(`.${name}`);
}
