/**
 * Command `browser_clear_cookies`: removes the cookies of the page, or of a domain.
 */

import {
  addressOf,
  checkDomain,
  findCookies,
  pageAddress,
  type Which,
} from '../driver/storage/cookies';
import { defineCommand } from './define-command';

const MOST_NAMES = 50;

export default defineCommand('browser_clear_cookies', async (page, { domain, name }) => {
  await page.services.claim(page.tabId, page.client);
  const which: Which =
    domain === undefined
      ? { type: 'url', url: await pageAddress(page) }
      : { type: 'domain', domain: await checkDomain(page, domain) };
  const found = await findCookies(page, which, name);
  const names: string[] = [];
  for (const cookie of found) {
    page.limits.signal.throwIfAborted();
    const { partitionKey, storeId } = cookie;
    const removed = await chrome.cookies.remove({
      url: addressOf(cookie),
      name: cookie.name,
      storeId,
      ...(partitionKey === undefined ? {} : { partitionKey }),
    });
    if (removed) names.push(cookie.name);
  }
  return { cleared: names.length, names: names.slice(0, MOST_NAMES) };
});
