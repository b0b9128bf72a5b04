/**
 * Who is carried: the user's word, Stop, the hub, and how many at a time.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sockets } from '../../../shared/test/support/fake-socket';
import { CarriedPage } from '../../src/background/carried-page';
import { Carriers, MOST_PAGES } from '../../src/background/carriers';
import type { Hub } from '../../src/background/hub-link';
import type { LinkState } from '../../src/panel';
import { DEFAULT_SETTINGS, keptSettings, type Settings } from '../../src/settings';
import { readOrigin } from '../../src/web-apps';
import { FakeChrome } from '../support/fake-chrome';
import { asPort, pagePort } from './fake-ports';

const APP = 'https://app.example';
const HUB: Hub = { port: 4711, key: new Uint8Array(32) };

function scene(over: Partial<Settings> = {}) {
  const chrome = new FakeChrome().install();
  const sockets = new Sockets();
  const now = {
    settings: { ...DEFAULT_SETTINGS, ...over } as Settings,
    hub: HUB as Hub | undefined,
    link: { type: 'connected', name: 'me', address: '' } as LinkState,
    isStopped: false,
  };
  const carriers = new Carriers({
    instanceId: 'chrome-1',
    hub: () => now.hub,
    link: () => now.link,
    settings: () => now.settings,
    isStopped: () => now.isStopped,
    webSocket: sockets.constructorForClient,
  });
  const ask = (origin = APP) => {
    const port = pagePort(origin);
    const page = new CarriedPage(asPort(port));
    carriers.take(page);
    port.say({ type: 'open', instanceId: 'page' });
    return port;
  };
  return { chrome, sockets, now, carriers, ask };
}

test('a page that is not allowed any more is refused in words that say what to press', () => {
  const { carriers, sockets, ask } = scene();
  const port = ask();
  assert.deepEqual(port.frames, [
    {
      type: 'bye',
      code: 'not_allowed_yet',
      retry: true,
      message:
        'https://app.example is not allowed to connect; press "Let this page connect" in the ' +
        'Tabwire extension',
    },
  ]);
  assert.equal(port.last?.code, 4403);
  assert.equal(port.isOpen, false);
  assert.equal(sockets.all.length, 0);
  assert.equal(carriers.allows(APP), false);
});

test('the script answers pages of allowed origins and no others', () => {
  const { carriers, now } = scene({ webApps: [APP, 'https://denied.example', 'null'] });
  now.settings = { ...now.settings, deniedSites: ['denied.example'] };
  for (const [origin, isAllowed] of [
    [APP, true],
    ['https://app.example:8443', false],
    ['http://app.example', false],
    ['https://denied.example', false],
    ['null', false],
    [undefined, false],
  ] as const) {
    assert.equal(carriers.allows(origin), isAllowed, origin);
  }
});

test('allowing is kept with the settings, and the page connects when it comes back', async () => {
  const { carriers, sockets, now, ask } = scene({ label: 'work' });
  await keptSettings.save(now.settings);
  ask();
  await carriers.allow(APP);
  now.settings = (await keptSettings.load()) ?? assert.fail('not kept');
  assert.deepEqual(now.settings, { ...DEFAULT_SETTINGS, label: 'work', webApps: [APP] });
  const port = ask();
  sockets.last.open();
  assert.deepEqual(port.said, [{ type: 'open' }]);
  ask('http://app.example');
  ask('https://app.example:8443');
  assert.equal(sockets.all.length, 1, 'an origin counts whole');
});

test('a page does not stay with a hub that this browser is not paired with any more', () => {
  const { carriers, sockets, now, ask } = scene({ webApps: [APP] });
  const port = ask();
  sockets.last.open();
  now.hub = undefined;
  now.link = { type: 'waiting', reason: 'the hub is gone' };
  carriers.update();
  assert.equal(port.isOpen, true, 'a link that is lost comes back');
  now.link = { type: 'unpaired', reason: 'no key' };
  carriers.update();
  assert.equal(port.isOpen, false);
  assert.equal(port.last?.code, 1013);
});

test('denied sites stay denied', () => {
  const lists = [{ deniedSites: ['example'] }, { allowedSites: ['elsewhere.example'] }];
  for (const sites of lists) {
    const { sockets, ask } = scene({ ...sites, webApps: [APP] });
    const [bye] = ask().frames;
    assert.equal(bye?.code, 'origin_not_allowed');
    assert.match(String(bye?.message), /options of the Tabwire extension/);
    assert.equal(sockets.all.length, 0);
  }
});

test('a page that may no more is ended at once', () => {
  for (const change of ['settings', 'stop'] as const) {
    const { carriers, sockets, now, ask } = scene({ webApps: [APP, 'https://other.example'] });
    const [port, other] = [ask(), ask('https://other.example')];
    for (const socket of sockets.all) socket.open();
    if (change === 'stop') now.isStopped = true;
    else now.settings = { ...now.settings, webApps: ['https://other.example'] };
    carriers.update();
    assert.equal(port.frames[0]?.code, change === 'stop' ? 'stopped' : 'not_allowed_yet');
    assert.ok(sockets.all[0]?.closedBy);
    assert.equal(other.isOpen, change === 'settings');
  }
});

test('a page waits while we are connecting, and is told when there is no hub', () => {
  const { carriers, sockets, now, ask } = scene({ webApps: [APP] });
  now.hub = undefined;
  now.link = { type: 'connecting' };
  const [first, second] = [ask(), ask()];
  assert.deepEqual([first.said, second.said], [[], []]);
  second.leave();
  now.hub = HUB;
  now.link = { type: 'connected', name: 'me', address: '' };
  carriers.update();
  carriers.update();
  assert.equal(sockets.all.length, 1, 'one socket for the one that is still there');
  now.hub = undefined;
  now.link = { type: 'waiting', reason: 'no hub answers' };
  const third = ask();
  const reason = 'not connected to a hub: no hub answers';
  assert.deepEqual(third.said, [{ type: 'close', code: 1013, reason }]);
  carriers.update();
  assert.equal(first.isOpen, true, 'who is connected stays');
});

test('a page that asked before the worker was ready is not lost', () => {
  const { carriers, sockets } = scene({ webApps: [APP] });
  const port = pagePort(APP);
  const page = new CarriedPage(asPort(port));
  port.say({ type: 'open', instanceId: 'page' });
  assert.equal(sockets.all.length, 0);
  carriers.take(page);
  assert.equal(sockets.all.length, 1);
});

test('no more than 50 pages are carried, and one that ends makes room', () => {
  const { sockets, ask } = scene({ webApps: [APP] });
  const ports = Array.from({ length: MOST_PAGES }, () => ask());
  assert.equal(sockets.all.length, 50);
  assert.equal(ask().frames[0]?.code, 'too_many');
  ports[7]?.leave();
  ask();
  assert.equal(sockets.all.length, 51);
});

test('what is no web page is not carried', async () => {
  const { carriers, sockets, ask } = scene({ webApps: ['null'] });
  assert.equal(ask('null').last?.code, 1008);
  assert.equal(sockets.all.length, 0);
  await carriers.allow('javascript:alert(1)');
  assert.equal(await keptSettings.load(), undefined);
});

test('origins are read as people write them', () => {
  for (const [text, expected] of [
    ['https://app.example', 'https://app.example'],
    [' https://App.Example/some/page?x#y ', 'https://app.example'],
    ['app.example', 'https://app.example'],
    ['app.example:8443', 'https://app.example:8443'],
    ['https://app.example:443', 'https://app.example'],
    ['http://app.example', 'http://app.example'],
    ['', undefined],
    ['*', undefined],
    ['https://*.example', undefined],
    ['https://user@app.example', undefined],
    ['chrome-extension://abc', undefined],
    ['javascript:alert(1)', undefined],
    ['file:///etc', undefined],
  ] as const) {
    assert.equal(readOrigin(text), expected, text);
  }
});

test('settings from before there were web apps are still settings', async () => {
  const { chrome } = scene();
  const { webApps, ...older } = { ...DEFAULT_SETTINGS, label: 'work', webApps: undefined };
  chrome.local.values.set('settings', older);
  assert.equal((await keptSettings.load())?.label, 'work');
});
