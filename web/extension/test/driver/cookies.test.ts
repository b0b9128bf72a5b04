import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/command';
import type { Services } from '../../src/driver/common/services';
import { OwnHosts } from '../../src/driver/storage/cookie-sites';
import { findCookies } from '../../src/driver/storage/cookies';
import { execute, registerDriver } from '../../src/execute';
import { refusalOf } from '../../src/sites';
import { fakeCall } from '../support/fake-call';
import { fakePage } from '../support/fake-page';
import { fakeServices } from '../support/fake-services';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
registerDriver();

interface Jar {
  readonly name: string;
  readonly domain: string;
  readonly hostOnly?: boolean;
}

/** All that the browser has, and what was set and removed. */
const jar: Jar[] = [];
const done: string[] = [];

const covers = (domain: string, host: string) => host === domain || host.endsWith(`.${domain}`);
const cookies = {
  getAllCookieStores: async () => [],
  getAll: async ({ url, domain = '' }: { url?: string; domain?: string }) => {
    const isMeant = ({ domain: own, hostOnly = !own.startsWith('.') }: Jar) => {
      const bare = own.replace(/^\./, '');
      if (url === undefined) return covers(domain, bare);
      const { hostname } = new URL(url);
      return hostOnly ? bare === hostname : covers(bare, hostname);
    };
    const rest = { value: 'v', path: '/', secure: false, httpOnly: false, sameSite: 'lax' };
    return jar.filter(isMeant).map((cookie) => {
      return { ...rest, hostOnly: !cookie.domain.startsWith('.'), ...cookie };
    });
  },
  set: async ({ url, domain }: { url: string; domain?: string }) => {
    done.push(`set ${url}${domain === undefined ? '' : ` for ${domain}`}`);
    return { name: 'a', value: 'b', domain: domain ?? '', path: '/', sameSite: 'lax' };
  },
  remove: async ({ url, name }: { url: string; name: string }) => {
    done.push(`remove ${name} ${url}`);
    return {};
  },
};
Reflect.set(Reflect.get(globalThis, 'chrome'), 'cookies', cookies);

function open(id: number, url: string, more: { incognito?: boolean } = {}): number {
  browser.tabs.set(id, { id, url, title: '', frozen: false, ...more });
  return id;
}

function run(name: string, args: unknown, more: Partial<Services> = {}): Promise<unknown> {
  const call = fakeCall(name, args, { tabId: 1 });
  const services = fakeServices({ tabsOf: () => [1], ...more });
  return execute(call, { signal: new AbortController().signal }, services);
}

async function names(args: unknown, more: Partial<Services> = {}): Promise<string[]> {
  const { cookies: found } = Object(await run('browser_get_cookies', args, more));
  return found.map(({ name }: Jar) => name);
}

const NO_TAB = { code: 'SITE_NOT_ALLOWED', message: /open a page of that site first/ };

test('a site that is allowed or denied with its port has its cookies, or has not', async () => {
  open(1, 'http://localhost:3000/');
  jar.splice(0, jar.length, { name: 'a', domain: 'localhost' });
  const pageWith = (allowedSites: string[], deniedSites: string[]) =>
    fakePage(1, {
      tabsOf: () => [1],
      checkSite: (url) => {
        const refused = refusalOf(url, { allowedSites, deniedSites });
        if (refused !== undefined) throw new CommandError(refused.code, refused.reason);
      },
    });
  const which = { type: 'url', url: 'http://localhost:3000/' } as const;
  assert.equal((await findCookies(pageWith(['localhost:3000'], []), which)).length, 1);
  assert.equal((await findCookies(pageWith([], ['localhost:3000']), which)).length, 0);
  const domain = { type: 'domain', domain: 'localhost' } as const;
  assert.equal((await findCookies(pageWith(['localhost:3000'], []), domain)).length, 0);
});

test('a cookie is a client’s business if it goes to a host of its tabs', () => {
  const hosts = new OwnHosts(['www.shop.example', '127.0.0.1']);
  for (const [domain, hostOnly, isIts] of [
    ['www.shop.example', true, true],
    ['.www.shop.example', false, true],
    ['.shop.example', false, true],
    ['shop.example', true, false],
    ['.api.shop.example', false, false],
    ['api.www.shop.example', true, false],
    ['.op.example', false, false],
    ['.other.example', false, false],
    ['127.0.0.1', true, true],
    ['127.0.0.2', true, false],
  ] as const) {
    assert.equal(hosts.receive({ domain, hostOnly }), isIts, `${domain} ${hostOnly}`);
  }
});

test('cookies are told of sites on which the client has a tab, and of no others', async () => {
  open(1, 'https://www.shop.example/');
  open(2, 'https://news.example/');
  open(3, 'https://bank.example/');
  jar.splice(
    0,
    jar.length,
    { name: 'own', domain: 'www.shop.example' },
    { name: 'whole', domain: '.shop.example' },
    { name: 'parent', domain: 'shop.example' },
    { name: 'sibling', domain: 'api.shop.example' },
    { name: 'news', domain: 'news.example' },
    { name: 'bank', domain: '.bank.example' },
  );
  assert.deepEqual(await names({}), ['own', 'whole']);
  assert.deepEqual(await names({ domain: 'shop.example' }), ['own', 'whole']);
  assert.deepEqual(await names({ urls: ['https://shop.example/'] }), ['whole']);
  for (const args of [
    { domain: 'bank.example' },
    { domain: 'api.shop.example' },
    { urls: ['https://bank.example/'] },
    { urls: ['https://www.shop.example/', 'https://api.shop.example/'] },
  ]) {
    await assert.rejects(names(args), NO_TAB, JSON.stringify(args));
  }
  const withTwo = { tabsOf: () => [1, 2, 99] };
  assert.deepEqual(await names({ domain: 'news.example' }, withTwo), ['news']);
  await assert.rejects(names({ domain: 'bank.example' }, withTwo), NO_TAB);
});

test('the tab that is asked in must be the client’s own too', async () => {
  open(1, 'https://bank.example/');
  await assert.rejects(names({}, { tabsOf: () => [] }), NO_TAB);
});

test('a tab in an incognito window opens nothing of the other windows', async () => {
  open(1, 'https://www.shop.example/');
  open(2, 'https://news.example/', { incognito: true });
  await assert.rejects(names({ domain: 'news.example' }, { tabsOf: () => [1, 2] }), NO_TAB);
});

test('a tab that has gone to another site, or to a denied one, gives no right to the old', async () => {
  open(1, 'https://www.shop.example/');
  open(2, 'https://elsewhere.example/');
  const own = { tabsOf: () => [1, 2] };
  await assert.rejects(names({ domain: 'news.example' }, own), NO_TAB);
  const checkSite = (url: string) => {
    if (url.includes('elsewhere.example/')) throw new CommandError('SITE_NOT_ALLOWED', 'denied');
  };
  const denied = names({ urls: ['https://elsewhere.example:8443/'] }, { ...own, checkSite });
  await assert.rejects(denied, NO_TAB);
});

test('cookies are set where the client has a tab, and nowhere else', async () => {
  open(1, 'https://www.shop.example/a');
  done.splice(0);
  const set = (args: object) => run('browser_set_cookie', { name: 'a', value: 'b', ...args });
  await set({});
  await set({ path: '/deep' });
  await set({ domain: 'shop.example' });
  assert.deepEqual(done.splice(0), [
    'set https://www.shop.example/a',
    'set https://www.shop.example/deep',
    'set https://www.shop.example/a for shop.example',
  ]);
  for (const args of [
    { url: 'https://bank.example/' },
    { domain: 'bank.example' },
    // A page of www.shop.example could not set it either.
    { url: 'https://shop.example/' },
    { domain: 'api.shop.example' },
  ]) {
    await assert.rejects(set(args), NO_TAB, JSON.stringify(args));
  }
  await set({ path: '//bank.example/' });
  assert.deepEqual(done, ['set https://www.shop.example//bank.example/'], 'a path is no host');
});

test('cookies are cleared where the client has a tab, and nowhere else', async () => {
  open(1, 'https://www.shop.example/');
  jar.splice(
    0,
    jar.length,
    { name: 'own', domain: 'www.shop.example' },
    { name: 'sibling', domain: 'api.shop.example' },
    { name: 'bank', domain: 'bank.example' },
  );
  done.splice(0);
  await assert.rejects(run('browser_clear_cookies', { domain: 'bank.example' }), NO_TAB);
  await run('browser_clear_cookies', { domain: 'shop.example' });
  assert.deepEqual(done, ['remove own http://www.shop.example/']);
});

test('a client’s first act in a tab makes it its own before cookies are looked at', async () => {
  open(1, 'https://www.shop.example/');
  const own: number[] = [];
  const claim = async (tabId: number) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    own.push(tabId);
  };
  done.splice(0);
  await run('browser_set_cookie', { name: 'a', value: 'b' }, { claim, tabsOf: () => own });
  assert.equal(done.length, 1);
});
