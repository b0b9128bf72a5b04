/**
 * Cookies of the browser that a tab belongs to, as far as a call may have them.
 *
 * Asked of Chrome, not of the page, so that those that scripts cannot see are there too. Cookies of
 * sites that the user keeps from clients, and of sites on which the caller has no tab, do not exist
 * here. There is no way to mean all cookies of a profile.
 */

import { invalid } from '../../command';
import type { Cookie as CookieReport } from '../../generated/command-results';
import { mayUse } from '../common/services';
import type { Page } from '../page/page';
import { ownHosts } from './cookie-sites';

type Cookie = chrome.cookies.Cookie;

const SAME_SITE = {
  lax: 'Lax',
  no_restriction: 'None',
  strict: 'Strict',
  unspecified: 'unspecified',
} as const;

/** Tells a cookie; without its value where that is to stay hidden. */
export function reportCookie(cookie: Cookie, mask?: string): CookieReport {
  const { name, value, domain, path, secure, httpOnly, sameSite, expirationDate } = cookie;
  return {
    name,
    value: httpOnly && mask !== undefined ? mask : value,
    domain,
    path,
    secure,
    httpOnly,
    sameSite: SAME_SITE[sameSite],
    ...(expirationDate === undefined ? {} : { expires: Math.round(expirationDate) }),
  };
}

/** Which cookies: those that go to an address, or all of a domain. */
export type Which =
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'domain'; readonly domain: string };

/** Finds cookies that a call may have. */
export async function findCookies(page: Page, which: Which, name?: string): Promise<Cookie[]> {
  const tabUrl = (await page.tab()).url ?? '';
  const store = await storeOf(page.tabId);
  const place = which.type === 'url' ? { url: which.url } : { domain: which.domain };
  const found = await chrome.cookies.getAll({
    ...place,
    ...store,
    ...(name === undefined ? {} : { name }),
    partitionKey: {},
  });
  const hosts = await ownHosts(page);
  const allowed: Cookie[] = [];
  for (const cookie of found) {
    if (!hosts.receive(cookie) || !isOfPage(cookie, tabUrl)) continue;
    if (await mayUse(page.services, ...addressesOf(cookie, which))) allowed.push(cookie);
  }
  return allowed;
}

/** Returns the address of the page, whose cookies are meant if nothing else is said. */
export async function pageAddress(page: Page): Promise<string> {
  const { url = '' } = await page.tab();
  await page.services.checkSite(url);
  if (!/^https?:/i.test(url)) throw invalid(`${url} has no cookies; give a url of http or https`);
  (await ownHosts(page)).check(new URL(url).hostname);
  return url;
}

/** Checks an address that a call names. */
export async function checkAddress(page: Page, name: string, url: string): Promise<string> {
  if (!URL.canParse(url) || !/^https?:/i.test(url)) {
    throw invalid(`${name} must be an address of http or https, not ${JSON.stringify(url)}`);
  }
  await page.services.checkSite(url);
  (await ownHosts(page)).check(new URL(url).hostname);
  return url;
}

/** Checks a domain that a call names; one that stands for half the web is refused. */
export async function checkDomain(page: Page, given: string): Promise<string> {
  const domain = given.trim().toLowerCase().replace(/^\./, '');
  const isName = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(domain) || domain === 'localhost';
  if (!isName && !/^\[[0-9a-f:.]+\]$/.test(domain)) {
    throw invalid(
      `domain must be a host's name such as shop.example or localhost, without scheme and path, ` +
        `not ${JSON.stringify(given)}`,
    );
  }
  await page.services.checkSite(`https://${domain}/`);
  (await ownHosts(page)).check(domain);
  return domain;
}

/** Returns an address that a cookie goes to. */
export function addressOf({ domain, path, secure }: Pick<Cookie, 'domain' | 'path' | 'secure'>) {
  return `${secure ? 'https' : 'http'}://${domain.replace(/^\./, '')}${path}`;
}

/** Returns the store that a tab's cookies are in: incognito windows have another. */
export async function storeOf(tabId: number): Promise<{ storeId?: string }> {
  const stores = await chrome.cookies.getAllCookieStores();
  const store = stores.find(({ tabIds }) => tabIds.includes(tabId));
  return store === undefined ? {} : { storeId: store.id };
}

// A cookie that a site has inside of other pages only is none of this page.
function isOfPage({ partitionKey }: Cookie, url: string): boolean {
  const top = partitionKey?.topLevelSite;
  if (top === undefined || top === '') return true;
  if (!URL.canParse(top) || !URL.canParse(url)) return false;
  const [site, host] = [new URL(top).hostname, new URL(url).hostname];
  return host === site || host.endsWith(`.${site}`);
}

/** A cookie has no port: it is as allowed as its host at the address that it was asked for. */
function addressesOf(cookie: Cookie, which: Which): string[] {
  if (which.type === 'domain') {
    return [true, false].map((secure) => addressOf({ ...cookie, secure }));
  }
  const { protocol, port } = new URL(which.url);
  const host = cookie.domain.replace(/^\./, '');
  return [`${protocol}//${host}${port === '' ? '' : `:${port}`}/`];
}
