/**
 * Command `browser_set_cookie`: sets one cookie, for the page unless another place is said.
 */

import { messageOf } from '../check';
import { type CommandError, invalid } from '../command';
import type { Page } from '../driver/page/page';
import { ownHosts } from '../driver/storage/cookie-sites';
import {
  checkAddress,
  checkDomain,
  pageAddress,
  reportCookie,
  storeOf,
} from '../driver/storage/cookies';
import { defineCommand } from './define-command';

const SAME_SITE = { Strict: 'strict', Lax: 'lax', None: 'no_restriction' } as const;
const LONGEST = 4_096;

export default defineCommand(
  'browser_set_cookie',
  async (page, { name, value, url, domain, path, secure, httpOnly, sameSite, expires }) => {
    checkText(name, value);
    if (path !== undefined && !path.startsWith('/')) {
      throw invalid(`path must begin with a slash, not ${JSON.stringify(path)}`);
    }
    if (expires !== undefined && expires * 1000 <= Date.now()) {
      throw invalid(
        `expires must be in the future, in Unix seconds, not ${expires}; clear_cookies removes one`,
      );
    }
    await page.services.claim(page.tabId, page.client);
    const site = domain === undefined ? undefined : await checkDomain(page, domain);
    const address = new URL(await placeOf(page, url, site));
    // Chrome tells of a cookie only if it goes to the very address it was set for. Set and not
    // resolved: a path such as `//other.example` would lead to another host.
    if (path !== undefined) address.pathname = path;
    // Of a host that has no parent domain, a cookie has no domain either.
    const isForDomain = site !== undefined && !isOneHost(site);
    // One without goes to that host alone, which no page of another host could set.
    if (!isForDomain) (await ownHosts(page)).checkExact(address.hostname);
    if (sameSite === 'None' && secure !== true) {
      throw invalid('sameSite: None needs secure: true, or the browser refuses the cookie');
    }
    const details: chrome.cookies.SetDetails = {
      url: address.href,
      name,
      value,
      ...(await storeOf(page.tabId)),
      ...(isForDomain ? { domain: site } : {}),
      ...(path === undefined ? {} : { path }),
      ...(secure === undefined ? {} : { secure }),
      ...(httpOnly === undefined ? {} : { httpOnly }),
      ...(sameSite === undefined ? {} : { sameSite: SAME_SITE[sameSite] }),
      ...(expires === undefined ? {} : { expirationDate: expires }),
    };
    page.limits.signal.throwIfAborted();
    return { cookie: reportCookie(await set(details)) };
  },
);

function checkText(name: string, value: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in it
  if (name === '' || /[\s;=,\u0000-\u001f]/.test(name)) {
    throw invalid(
      `name must be a cookie's name without = ; , and spaces, not ${JSON.stringify(name)}`,
    );
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in it
  if (/[;\u0000-\u001f]/.test(value)) {
    throw invalid('value must not have a semicolon or a line break; encode it (%3B)');
  }
  if (name.length + value.length > LONGEST) {
    throw invalid(`name and value together may have ${LONGEST} characters`);
  }
}

async function placeOf(page: Page, url?: string, domain?: string): Promise<string> {
  if (url !== undefined) return checkAddress(page, 'url', url);
  const own = (await page.tab()).url ?? '';
  if (domain === undefined) return pageAddress(page);
  const host = URL.canParse(own) ? new URL(own).hostname : '';
  const isOwn = /^https?:/i.test(own) && (host === domain || host.endsWith(`.${domain}`));
  return isOwn ? pageAddress(page) : checkAddress(page, 'domain', `https://${domain}/`);
}

function isOneHost(domain: string): boolean {
  return domain === 'localhost' || /^[\d.]+$/.test(domain) || domain.startsWith('[');
}

async function set(details: chrome.cookies.SetDetails): Promise<chrome.cookies.Cookie> {
  try {
    const cookie = await chrome.cookies.set(details);
    if (cookie) return cookie;
  } catch (error) {
    throw refused(messageOf(error));
  }
  throw refused('it gives no reason');
}

function refused(reason: string): CommandError {
  return invalid(
    `the browser refuses this cookie: ${reason}; look whether domain and path belong to url, and ` +
      'secure to https',
  );
}
