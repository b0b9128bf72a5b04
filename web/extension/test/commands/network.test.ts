import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { CommandError } from '../../src/command';
import { sendEventsTo } from '../../src/driver/common/hub-events';
import { providePermissions } from '../../src/driver/common/permissions';
import type { Services } from '../../src/driver/common/services';
import { execute, registerDriver } from '../../src/execute';
import { FakeDriverChrome } from '../driver/fake-driver-chrome';
import { fakeCall } from '../support/fake-call';
import { fakeServices } from '../support/fake-services';

const DENIED = 'denied.test';
const isAllowed = (url: string) => !url.includes(DENIED);
const told: Array<Record<string, unknown>> = [];

const browser = new FakeDriverChrome().install();
registerDriver();
providePermissions({ allows: isAllowed, drives: (tabId) => tabId !== 9 });

const services = fakeServices({
  checkSite: (url) => {
    if (!isAllowed(url)) throw new CommandError('SITE_NOT_ALLOWED', 'denied');
  },
  limitsSites: () => true,
  emit: (name, data) => {
    if (name === 'network') told.push(Object(data));
  },
});

interface Told {
  readonly id: string;
  readonly url: string;
  readonly status?: number;
}

async function run(
  tabId: number,
  toolName: string,
  args: unknown,
  more: Partial<Services> = {},
  { signal } = new AbortController(),
) {
  const call = fakeCall(toolName, args, { tabId });
  return Object(await execute(call, { signal }, { ...services, ...more }));
}

function openTab(id: number): void {
  browser.tabs.set(id, { id, url: 'https://a.test/', title: 'A', frozen: false });
}

function raise(tabId: number, method: string, params: object): void {
  browser.event('debugger.onEvent').raise({ tabId }, method, params);
}

function begin(tabId: number, requestId: string, url: string, more: object = {}): void {
  const request = { url, method: 'GET', headers: {} };
  const rest = {
    requestId,
    type: 'XHR',
    timestamp: 1,
    wallTime: 1,
    documentURL: 'https://a.test/',
  };
  raise(tabId, 'Network.requestWillBeSent', { ...rest, request, ...more });
}

function end(tabId: number, requestId: string, status = 200): void {
  raise(tabId, 'Network.responseReceived', { requestId, response: { status, headers: {} } });
  raise(tabId, 'Network.loadingFinished', { requestId, timestamp: 2, encodedDataLength: 10 });
}

const soon = () => new Promise((resolve) => setImmediate(resolve));
const last = (tabId: number) => browser.asked.filter((it) => it.startsWith(`${tabId} `)).at(-1);

test('requests of denied sites, and those that such frames make, are not shown or told', async () => {
  openTab(1);
  await run(1, 'browser_get_requests', {});
  begin(1, 'r1', 'https://a.test/x');
  begin(1, 'r2', `https://${DENIED}/x`);
  begin(1, 'r3', 'https://b.test/x', { documentURL: `https://${DENIED}/` });
  for (const id of ['r1', 'r2', 'r3']) end(1, id);
  await soon();
  const { requests } = await run(1, 'browser_get_requests', {});
  assert.deepEqual(
    requests.map(({ url }: Told) => url),
    ['https://a.test/x'],
  );
  assert.deepEqual(
    told.map(({ url }) => url),
    ['https://a.test/x'],
  );
  const hidden = String(Number(requests[0].id) + 1);
  await assert.rejects(run(1, 'browser_get_request', { id: hidden }), /no request/);
  // What is closed to all clients, such as the hub's own, is so without any list of the user's.
  const unlimited = { limitsSites: () => false };
  const reading = run(1, 'browser_get_request', { id: hidden }, unlimited);
  await assert.rejects(reading, /no request/);
});

test('a redirect is a request of its own', async () => {
  openTab(2);
  await run(2, 'browser_get_requests', {});
  begin(2, 'r1', 'https://a.test/old');
  const redirectResponse = { status: 302, headers: { Location: '/new' } };
  begin(2, 'r1', 'https://a.test/new', { redirectResponse });
  end(2, 'r1');
  const { requests } = await run(2, 'browser_get_requests', {});
  assert.deepEqual(
    requests.map(({ url, status }: Told) => [url, status]),
    [
      ['https://a.test/old', 302],
      ['https://a.test/new', 200],
    ],
  );
  const first = await run(2, 'browser_get_request', { id: requests[0].id });
  assert.match(first.responseBodyNote, /redirect/);
  assert.deepEqual(first.responseHeaders, { Location: '/new' });
});

test('so many requests are remembered, and it is said how many are not', async () => {
  openTab(3);
  await run(3, 'browser_get_requests', {});
  for (let n = 0; n < 520; n++) begin(3, `r${n}`, `https://a.test/${n}`, { type: 'Image' });
  const { requests, older, forgotten } = await run(3, 'browser_get_requests', { limit: 500 });
  assert.equal(requests.length, 500);
  assert.equal(requests[0].url, 'https://a.test/20');
  assert.deepEqual([older, forgotten], [0, 20]);
  const few = await run(3, 'browser_get_requests', {});
  assert.deepEqual([few.requests.length, few.older], [100, 400]);
});

test('so many are told in a second, then only how many there were; pictures never', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  told.length = 0;
  sendEventsTo(services.emit);
  for (let n = 0; n < 60; n++) {
    begin(4, `r${n}`, `https://a.test/${n}`);
    end(4, `r${n}`);
  }
  begin(4, 'p', 'https://a.test/p.png', { type: 'Image' });
  end(4, 'p');
  begin(9, 'r', 'https://a.test/of-nobody');
  end(9, 'r');
  await soon();
  assert.equal(told.length, 50);
  mock.timers.tick(1_000);
  assert.deepEqual(told.at(-1), { tabId: 4, dropped: 10 });
  mock.timers.reset();
});

test('a stopped request is mocked, let on, or let on when Chrome refuses the answer', async () => {
  openTab(5);
  await run(5, 'browser_mock_request', { url: 'test/x', body: 'y', times: 2 });
  const paused = (url: string) => {
    return { requestId: 'f', resourceType: 'XHR', request: { url, method: 'GET', headers: {} } };
  };
  raise(5, 'Fetch.requestPaused', paused(`https://${DENIED}/test/x`));
  await soon();
  assert.equal(last(5), '5 Fetch.continueRequest', 'what is denied is not answered by a client');
  raise(5, 'Fetch.requestPaused', paused('https://a.test/x'));
  await soon();
  assert.equal(last(5), '5 Fetch.fulfillRequest');
  browser.answer = (_, method) => {
    if (method === 'Fetch.fulfillRequest') throw new Error('{"message":"bad header"}');
    return {};
  };
  raise(5, 'Fetch.requestPaused', paused('https://a.test/x'));
  await soon();
  assert.equal(last(5), '5 Fetch.continueRequest');
  browser.answer = () => ({});
  raise(5, 'Fetch.requestPaused', paused('https://a.test/x'));
  await soon();
  assert.equal(last(5), '5 Fetch.continueRequest', 'its times are over');
});

test('what a denied frame asks another site for is not answered by a client', async () => {
  openTab(10);
  await run(10, 'browser_mock_request', { url: 'cdn.test/*', body: 'steal()' });
  browser.frames.set(10, ['https://a.test/', `https://${DENIED}/`]);
  const request = { url: 'https://cdn.test/lib.js', method: 'GET', headers: {} };
  const paused = { requestId: 'f', request };
  raise(10, 'Fetch.requestPaused', { ...paused, resourceType: 'Script' });
  await soon();
  assert.equal(last(10), '10 Fetch.continueRequest');
  raise(10, 'Fetch.requestPaused', { ...paused, resourceType: 'Document' });
  await soon();
  assert.equal(last(10), '10 Fetch.fulfillRequest');
  browser.frames.delete(10);
  raise(10, 'Fetch.requestPaused', { ...paused, resourceType: 'Script' });
  await soon();
  assert.equal(last(10), '10 Fetch.fulfillRequest');
});

test('mocks that end with the debugger are told once', async () => {
  openTab(6);
  await run(6, 'browser_mock_request', { url: '/x' });
  browser.attached.delete(6);
  browser.event('debugger.onDetach').raise({ tabId: 6 }, 'canceled_by_user');
  await soon();
  assert.match(String(told.at(-1)?.ended), /1 mock/);
  const { note } = await run(6, 'browser_get_requests', {});
  assert.match(note, /1 mock.*canceled_by_user/);
  assert.equal((await run(6, 'browser_get_requests', {})).note, undefined);
});

test('a mock that cannot be set leaves nothing behind', async () => {
  openTab(7);
  browser.answer = (_, method) => {
    if (method === 'Fetch.enable') throw new Error('{"message":"not today"}');
    return {};
  };
  await assert.rejects(run(7, 'browser_mock_request', { url: '/x' }), /not today/);
  browser.answer = () => ({});
  assert.equal((await run(7, 'browser_get_requests', {})).mocks, undefined);
});

test('headers of a call that was withdrawn do not stay in force', async () => {
  openTab(11);
  const controller = new AbortController();
  browser.answer = (_, method) => {
    if (method === 'Network.setExtraHTTPHeaders') controller.abort(new Error('withdrawn'));
    return {};
  };
  const headers = { 'X-A': '1' };
  await assert.rejects(run(11, 'browser_set_headers', { headers }, {}, controller), /withdrawn/);
  browser.answer = () => ({});
  await soon();
  const sent = browser.asked.filter((it) => it === '11 Network.setExtraHTTPHeaders');
  assert.equal(sent.length, 2, 'set, and set back');
});

test('a call that was withdrawn while it attached does not hold the tab', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  openTab(12);
  const controller = new AbortController();
  browser.answer = (_, method) => {
    if (method === 'Page.enable') controller.abort(new Error('withdrawn'));
    return {};
  };
  await assert.rejects(run(12, 'browser_mock_request', { url: '/x' }, {}, controller), /withdrawn/);
  browser.answer = () => ({});
  await soon();
  mock.timers.tick(30_001);
  assert.equal(browser.asked.at(-1), 'detach 12');
  mock.timers.reset();
});

test('hidden cookies are masked where only looking is allowed, and denied ones are not there', async () => {
  openTab(8);
  const cookie = { value: 'v', path: '/', secure: true, sameSite: 'lax', storeId: '0' };
  const all = [
    { ...cookie, name: 'open', domain: 'a.test', httpOnly: false },
    { ...cookie, name: 'hidden', domain: 'a.test', httpOnly: true },
    { ...cookie, name: 'denied', domain: `.${DENIED}`, httpOnly: false },
  ];
  const own = { tabsOf: () => [8] };
  const cookies = { getAll: async () => all, getAllCookieStores: async () => [] };
  Reflect.set(Reflect.get(globalThis, 'chrome'), 'cookies', cookies);
  const values = (answer: { cookies: Array<{ name: string; value: string }> }) =>
    answer.cookies.map(({ name, value }) => `${name}=${value}`);
  assert.deepEqual(values(await run(8, 'browser_get_cookies', {}, own)), ['open=v', 'hidden=v']);
  const looking = await run(8, 'browser_get_cookies', {}, { ...own, isReadOnly: () => true });
  assert.deepEqual(values(looking), ['open=v', 'hidden=•••']);
  const denied = run(8, 'browser_get_cookies', { domain: DENIED }, own);
  await assert.rejects(denied, /denied/);
  const acts = ['browser_set_cookie', 'browser_clear_cookies', 'browser_clear_storage'];
  for (const name of acts) {
    const args = name === 'browser_set_cookie' ? { name: 'a', value: 'b' } : {};
    await assert.rejects(run(8, name, args, { isReadOnly: () => true }), /looking only/);
  }
});
