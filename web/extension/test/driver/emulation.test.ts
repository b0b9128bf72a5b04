import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { CommandError } from '../../src/command';
import { findDevice } from '../../src/driver/emulation/devices';
import { emulate, registerEmulation } from '../../src/driver/emulation/emulation';
import { changed, PARTS } from '../../src/driver/emulation/emulation-state';
import { Page } from '../../src/driver/page/page';
import { detachAll, openSession, registerDebugger } from '../../src/driver/tab/debugger';
import { endLifetime, registerTabState, restoreTabs } from '../../src/driver/tab/tab-state';
import { fakeServices } from '../support/fake-services';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
registerDebugger();
registerEmulation();
registerTabState();
await restoreTabs();

const IDLE_MS = 30_000;
const soon = () => new Promise((resolve) => setImmediate(resolve));

// A tab that is kept attached is looked at again and again, which would keep this process too.
after(detachAll);

const services = fakeServices();

function pageOf(tabId: number, signal = new AbortController().signal): Page {
  const limits = { signal, endsAt: performance.now() + 60_000 };
  return new Page(tabId, { client: { id: 'x', name: 'X' }, services, limits });
}

function asked(entry: string): number {
  return browser.asked.filter((text) => text === entry).length;
}

test('what is in force is all that was set, until it is ended', async () => {
  const page = pageOf(1);
  await emulate(page, { timezoneId: 'Asia/Tokyo' });
  const both = await emulate(page, { offline: true });
  assert.deepEqual(both, { timezoneId: 'Asia/Tokyo', offline: true });
  assert.equal(asked('1 Emulation.setTimezoneOverride'), 1, 'what is so already is not sent');
  const one = await emulate(page, { timezoneId: undefined });
  assert.deepEqual(one, { offline: true });
  assert.equal(asked('1 Emulation.setTimezoneOverride'), 2);
  page.close();
});

test('a tab with something in force is not let go, and one without is', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const page = pageOf(2);
  await emulate(page, { colorScheme: 'dark' });
  page.close();
  await soon();
  mock.timers.tick(3 * IDLE_MS);
  assert.equal(asked('detach 2'), 0);
  const again = pageOf(2);
  assert.deepEqual(await emulate(again, { colorScheme: undefined }), {});
  again.close();
  await soon();
  mock.timers.tick(IDLE_MS + 1);
  assert.equal(asked('detach 2'), 1);
  mock.timers.reset();
});

test('what detaching undid is in force again when the tab is attached anew', async () => {
  const page = pageOf(3);
  await emulate(page, { locale: 'de-DE', throttle: { latency: 5 } });
  browser.attached.delete(3);
  browser.event('debugger.onDetach').raise({ tabId: 3 }, 'canceled_by_user');
  await soon();
  const before = asked('3 Emulation.setLocaleOverride');
  (await openSession(3)).release();
  assert.equal(asked('3 Emulation.setLocaleOverride'), before + 1);
  assert.equal(asked('3 Network.emulateNetworkConditions'), 2);
  assert.equal(asked('3 Emulation.setEmulatedMedia'), 0, 'nothing else is touched');
});

test('what is refused is put back, and said in words', async () => {
  const page = pageOf(4);
  await emulate(page, { colorScheme: 'dark' });
  browser.answer = (_tabId, method) => {
    if (method !== 'Emulation.setTimezoneOverride') return {};
    throw new Error('{"code":-32602,"message":"Invalid timezone ID: Mars"}');
  };
  const change = { colorScheme: 'light', timezoneId: 'Mars' } as const;
  await assert.rejects(emulate(page, change), (error) => {
    return error instanceof CommandError && /timezoneId.*Europe\/Berlin/.test(error.message);
  });
  browser.answer = () => ({});
  assert.deepEqual(await emulate(page, {}), { colorScheme: 'dark' });
  page.close();
});

test('a call that was withdrawn leaves nothing in force', async () => {
  const controller = new AbortController();
  const page = pageOf(5, controller.signal);
  browser.answer = (_tabId, method) => {
    if (method === 'Network.emulateNetworkConditions') controller.abort(new Error('withdrawn'));
    return {};
  };
  await assert.rejects(emulate(page, { offline: true }), /withdrawn/);
  browser.answer = () => ({});
  assert.equal(asked('5 Network.emulateNetworkConditions'), 2, 'set, and set back');
  assert.deepEqual(await emulate(pageOf(5), {}), {});
});

test('a page is not left with the place of a call that was withdrawn', async () => {
  const places: unknown[] = [];
  const executeScript = async ({ args }: { args: unknown[] }) => void places.push(args[0]);
  Reflect.set(Reflect.get(globalThis, 'chrome'), 'scripting', { executeScript });
  const controller = new AbortController();
  browser.answer = (_tabId, method) => {
    if (method !== 'Page.addScriptToEvaluateOnNewDocument') return {};
    controller.abort(new Error('withdrawn'));
    return { identifier: '1' };
  };
  const geolocation = { latitude: 1, longitude: 2, accuracy: 3 };
  const page = pageOf(10, controller.signal);
  await assert.rejects(emulate(page, { geolocation }), /withdrawn/);
  browser.answer = () => ({});
  await soon();
  assert.deepEqual(places, [geolocation, null]);
  assert.equal(asked('10 Page.removeScriptToEvaluateOnNewDocument'), 1);
  page.close();
});

test('it survives the worker, and ends with the tab, its release and a stop', async () => {
  const key = (tabId: number) => `driver.emulation.${tabId}`;
  const kept = (tabId: number) => browser.session.values.get(key(tabId));
  await emulate(pageOf(6), { media: 'print' });
  await soon();
  assert.deepEqual(kept(6), { state: { media: 'print' } });
  browser.event('tabs.onRemoved').raise(6);
  await soon();
  assert.equal(kept(6), undefined);

  await browser.session.set({ [key(7)]: { state: ['odd'] } });
  await restoreTabs();
  assert.deepEqual(await emulate(pageOf(7), {}), {}, 'what is odd counts as nothing');
  await browser.session.set({ [key(7)]: { state: { offline: true } } });
  await restoreTabs();
  assert.deepEqual(await emulate(pageOf(7), {}), { offline: true });
  (await openSession(7)).release();
  const before = asked('7 Network.emulateNetworkConditions');
  await endLifetime(7, { type: 'released' });
  await soon();
  assert.equal(asked('7 Network.emulateNetworkConditions'), before + 1);
  assert.deepEqual(await emulate(pageOf(7), {}), {});

  await emulate(pageOf(8), { offline: true });
  await detachAll();
  assert.equal(kept(8), undefined);
  (await openSession(8)).release();
  assert.equal(asked('8 Network.emulateNetworkConditions'), 1);
});

test('commands say a state whole, its end included', () => {
  const phone = findDevice(' PIXEL7 ');
  const { userAgent, platform } = phone;
  const [agent] = PARTS.agent.commands({ userAgent, platform, locale: 'pt-BR' });
  const { acceptLanguage, userAgentMetadata } = Object(agent?.params);
  assert.equal(acceptLanguage, 'pt-BR,pt');
  assert.match(JSON.stringify(userAgentMetadata), /"mobile":true/);
  assert.deepEqual(PARTS.agent.commands({})[0]?.params, { userAgent: '' });
  assert.equal(PARTS.screen.commands({})[0]?.method, 'Emulation.clearDeviceMetricsOverride');
  assert.deepEqual(PARTS.network.commands({ offline: true })[0]?.params, {
    offline: true,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  assert.deepEqual(changed({ offline: true }, { offline: undefined }), {});
});

test('an unknown device is told all that there are', () => {
  assert.throws(() => findDevice('Nokia'), /Samsung Galaxy S23, iPad Pro, iPad Mini/);
});
