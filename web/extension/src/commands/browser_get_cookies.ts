/**
 * Command `browser_get_cookies`: the cookies of the page, of other addresses or of a domain.
 *
 * Also those that scripts cannot see; where the user allows looking only, their values are masked,
 * because they are what logs somebody in.
 */

import { invalid } from '../command';
import { MASK } from '../driver/network/headers';
import type { Page } from '../driver/page/page';
import {
  checkAddress,
  checkDomain,
  findCookies,
  pageAddress,
  reportCookie,
  type Which,
} from '../driver/storage/cookies';
import { defineCommand } from './define-command';

const MOST = 200;
const MOST_URLS = 20;

export default defineCommand('browser_get_cookies', async (page, { urls, domain, name }) => {
  if (urls !== undefined && domain !== undefined) throw invalid('give urls or domain, not both');
  const places = await readPlaces(page, urls, domain);
  const found = new Map<string, chrome.cookies.Cookie>();
  for (const place of places) {
    for (const cookie of await findCookies(page, place, name)) {
      const { domain: site, path, name: own, partitionKey } = cookie;
      found.set(JSON.stringify([site, path, own, partitionKey]), cookie);
    }
  }
  const mask = (await page.services.isReadOnly()) ? MASK : undefined;
  const cookies = [...found.values()];
  return {
    cookies: cookies.slice(0, MOST).map((cookie) => reportCookie(cookie, mask)),
    ...(cookies.length > MOST ? { leftOut: cookies.length - MOST } : {}),
  };
});

async function readPlaces(
  page: Page,
  urls: readonly string[] | undefined,
  domain: string | undefined,
): Promise<Which[]> {
  if (domain !== undefined) return [{ type: 'domain', domain: await checkDomain(page, domain) }];
  if (urls === undefined) return [{ type: 'url', url: await pageAddress(page) }];
  if (urls.length === 0 || urls.length > MOST_URLS) {
    throw invalid(`urls must have 1 to ${MOST_URLS} addresses, not ${urls.length}`);
  }
  const checked = urls.map((url) => checkAddress(page, 'urls', url));
  return (await Promise.all(checked)).map((url) => ({ type: 'url', url }));
}
