import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/command';
import { findCookies } from '../../src/driver/cookies';
import type { Page } from '../../src/driver/page';
import { refusalOf } from '../../src/sites';

const COOKIE = { name: 'a', value: 'b', path: '/', secure: false, domain: 'localhost' };
const cookies = { getAll: async () => [COOKIE], getAllCookieStores: async () => [] };
Object.assign(globalThis, { chrome: { cookies } });

function pageWith(allowedSites: string[], deniedSites: string[]): Page {
  const checkSite = (url: string) => {
    const reason = refusalOf(url, { allowedSites, deniedSites });
    if (reason !== undefined) throw new CommandError('SITE_NOT_ALLOWED', reason);
  };
  const tab = async () => ({ url: 'http://localhost:3000/' });
  // Only what is asked of a page here.
  return { tabId: 1, tab, services: { checkSite } } as unknown as Page;
}

test('a site that is allowed or denied with its port has its cookies, or has not', async () => {
  const which = { type: 'url', url: 'http://localhost:3000/' } as const;
  assert.equal((await findCookies(pageWith(['localhost:3000'], []), which)).length, 1);
  assert.equal((await findCookies(pageWith([], ['localhost:3000']), which)).length, 0);
  const domain = { type: 'domain', domain: 'localhost' } as const;
  assert.equal((await findCookies(pageWith(['localhost:3000'], []), domain)).length, 0);
});
