/**
 * Which tabs are for clients, what the hub may know of them, and who can be given one.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Groups } from '../../src/background/groups';
import { KnownClients } from '../../src/background/known-clients';
import { describeFront, receivers } from '../../src/background/panel-view';
import { TabAccess } from '../../src/background/tab-access';
import { DEFAULT_SETTINGS, keptSettings, showsOtherTabs } from '../../src/settings';
import { FakeChrome } from '../support/fake-chrome';

const CLAUDE = { id: 'c1', name: 'claude-code' };
const CURSOR = { id: 'c3', name: 'Cursor' };

async function scene(showsOthers = false) {
  const browser = new FakeChrome().install();
  const groups = new Groups({
    claimed: () => {},
    taken: () => {},
    given: () => {},
    changed: () => {},
  });
  await groups.load();
  const access = new TabAccess(groups, () => showsOthers);
  return { browser, groups, access };
}

test('other tabs are hidden in the user’s browser and shown in one that Tabwire has started', () => {
  const decided = (otherTabs: boolean) => ({ ...DEFAULT_SETTINGS, otherTabs });
  assert.equal(showsOtherTabs(DEFAULT_SETTINGS, false), false);
  assert.equal(showsOtherTabs(DEFAULT_SETTINGS, true), true);
  assert.equal(showsOtherTabs(decided(true), false), true);
  assert.equal(showsOtherTabs(decided(false), true), false);
});

test('what the user has decided about other tabs is kept, and nonsense is not', async () => {
  const { browser } = await scene();
  await keptSettings.save({ ...DEFAULT_SETTINGS, otherTabs: true });
  assert.equal((await keptSettings.load())?.otherTabs, true);
  browser.local.values.set('settings', { ...DEFAULT_SETTINGS, otherTabs: 'yes' });
  assert.equal(await keptSettings.load(), undefined);
});

test('a tab can be known while a client has it, and only its number after it was taken back', async () => {
  const { browser, groups, access } = await scene();
  const tab = browser.open();
  assert.equal(access.visibilityOf(tab), 'hidden');
  await groups.claim(tab, CLAUDE);
  assert.equal(access.visibilityOf(tab), 'whole');
  await groups.release(tab, true);
  assert.equal(access.visibilityOf(tab), 'whole', 'on its way to another client');
  await groups.claim(tab, CURSOR);
  await groups.take(tab);
  assert.equal(access.visibilityOf(tab), 'number');
  await groups.give(tab);
  assert.equal(access.visibilityOf(tab), 'hidden');
});

test('with other tabs shown all are known', async () => {
  const { browser, groups, access } = await scene(true);
  const [mine, taken] = [browser.open(), browser.open()];
  await groups.take(taken);
  assert.deepEqual([access.visibilityOf(mine), access.visibilityOf(taken)], ['whole', 'whole']);
});

test('no call reaches a tab by a number that was guessed', async () => {
  const { browser, groups, access } = await scene();
  const [mine, taken, its] = [browser.open(), browser.open(), browser.open()];
  await groups.claim(taken, CLAUDE);
  await groups.take(taken);
  const hidden = { code: 'TAB_NOT_FOUND', message: /not for AI clients.*ask the user to give/ };
  await assert.rejects(access.check(mine), hidden);
  await assert.rejects(access.check(taken), { code: 'STOPPED_BY_USER' });
  // A tab that a client has just opened: its claim is under way.
  const claiming = groups.claim(its, CLAUDE);
  await access.check(its);
  await claiming;
});

test('clients are known by the hub’s word, and by the next worker too', async () => {
  new FakeChrome().install();
  let changes = 0;
  const clients = new KnownClients(() => {
    changes += 1;
  });
  clients.tell({ clients: [CURSOR, CLAUDE] });
  assert.deepEqual([clients.all, changes], [[CURSOR, CLAUDE], 1]);
  clients.tell({ clients: 'all' });
  clients.tell({ clients: [CURSOR, { id: 7 }] });
  assert.equal(clients.all.length, 2, 'nonsense changes nothing');
  clients.tell({ clients: [{ ...CURSOR, more: 1 }] });
  assert.deepEqual(clients.all, [CURSOR], 'who has left is not there any more');
  const next = new KnownClients(() => {});
  await next.load();
  assert.deepEqual(next.all, [CURSOR]);
});

test('the tab in front can be given to each client that does not have it', async () => {
  const { browser, groups } = await scene();
  const [front, its] = [browser.open({ url: 'https://a.test/' }), browser.open()];
  browser.front = front;
  await groups.claim(its, CLAUDE);
  const all = receivers(groups, [CURSOR, { ...CLAUDE }, { id: 'c9', name: 'claude-code' }]);
  const titles = ['claude-code', 'Cursor', 'claude-code 2'];
  assert.deepEqual(
    all.map(({ title }) => title),
    titles,
  );
  const told = async () => {
    const found = await describeFront(groups, all, { ...DEFAULT_SETTINGS, hubPorts: [8765] });
    return found?.receivers.map(({ title }) => title);
  };
  assert.deepEqual(await told(), titles);
  await groups.claim(front, CLAUDE);
  assert.deepEqual(await told(), ['Cursor', 'claude-code 2']);
  for (const url of ['file:///etc/passwd', 'chrome://settings/', 'http://localhost:8765/api']) {
    Object.assign(browser.tabs.get(front) ?? {}, { url });
    assert.deepEqual(await told(), [], url);
  }
});

test('the page in front can be let connect if it is of the web, not allowed yet and not denied', async () => {
  const { browser, groups } = await scene();
  const front = browser.open();
  browser.front = front;
  const settings = {
    ...DEFAULT_SETTINGS,
    webApps: ['https://app.example'],
    deniedSites: ['denied.example'],
  };
  for (const [url, origin] of [
    ['https://other.example/page?x', 'https://other.example'],
    ['https://app.example:8443/', 'https://app.example:8443'],
    ['http://127.0.0.1:5173/', 'http://127.0.0.1:5173'],
    ['https://app.example/', undefined],
    ['https://denied.example/', undefined],
    ['chrome://settings/', undefined],
    ['file:///tmp/page.html', undefined],
    ['about:blank', undefined],
  ] as const) {
    Object.assign(browser.tabs.get(front) ?? {}, { url });
    const found = await describeFront(groups, [], settings);
    assert.equal(found?.connectable, origin, url);
  }
  browser.front = -1;
  assert.equal(await describeFront(groups, [], settings), undefined);
});
