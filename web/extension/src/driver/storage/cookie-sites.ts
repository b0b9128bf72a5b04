/**
 * Whose cookies a call may have: those that go to a site on which its client has a tab now.
 *
 * A cookie goes to the host that it was set for, and if it was set for a domain, to the hosts below
 * it too. That is the browser's own rule, and since browsers take no cookie for half the web
 * (`co.uk`), it needs no list of such domains here.
 */

import { CommandError } from '../../command';
import { mayUse } from '../common/services';
import type { Page } from '../page/page';

type Cookie = Pick<chrome.cookies.Cookie, 'domain' | 'hostOnly'>;

/** Hosts of a client's tabs. */
export class OwnHosts {
  readonly #hosts: ReadonlySet<string>;

  constructor(hosts: Iterable<string>) {
    this.#hosts = new Set(hosts);
  }

  /** Whether a cookie goes to one of them. */
  receive(cookie: Cookie): boolean {
    const domain = bare(cookie.domain);
    return [...this.#hosts].some((host) => host === domain || isAbove(cookie, domain, host));
  }

  /** Throws for a host that is none of them, and has no cookies that go to one. */
  check(host: string): void {
    const name = bare(host);
    const isKnown = [...this.#hosts].some((own) => own === name || own.endsWith(`.${name}`));
    if (!isKnown) throw noTab(name);
  }

  /** Throws for a host that is not one of them itself. */
  checkExact(host: string): void {
    if (!this.#hosts.has(bare(host))) throw noTab(bare(host));
  }
}

/** Finds the hosts on which the caller has tabs, with the same cookies as the page's own tab. */
export async function ownHosts({ tabId, client, services }: Page): Promise<OwnHosts> {
  const { incognito } = await chrome.tabs.get(tabId);
  const hosts: string[] = [];
  for (const own of await services.tabsOf(client.id)) {
    const tab = await chrome.tabs.get(own).catch(() => undefined);
    const host = tab?.incognito === incognito ? await hostOf(tab?.url ?? '', services) : undefined;
    if (host !== undefined) hosts.push(host);
  }
  return new OwnHosts(hosts);
}

async function hostOf(url: string, services: Page['services']): Promise<string | undefined> {
  if (!URL.canParse(url) || !(await mayUse(services, url))) return undefined;
  const { protocol, hostname } = new URL(url);
  return /^https?:$/.test(protocol) ? bare(hostname) : undefined;
}

function isAbove({ hostOnly }: Cookie, domain: string, host: string): boolean {
  return hostOnly !== true && host.endsWith(`.${domain}`);
}

function bare(host: string): string {
  return host.toLowerCase().replace(/^\.|\.$/g, '');
}

function noTab(host: string): CommandError {
  return new CommandError(
    'SITE_NOT_ALLOWED',
    `cookies are there only for sites on which you have a tab, and you have none on ${host}; open ` +
      'a page of that site first (browser_tab new)',
  );
}
