import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COLOURS, colourFor, titleFor } from '../../src/background/client-titles';
import { Groups } from '../../src/background/groups';
import { FakeChrome } from '../support/fake-chrome';

const CLAUDE = { id: 'c1', name: 'claude-code' };
const OTHER_CLAUDE = { id: 'c2', name: 'claude-code' };
const CURSOR = { id: 'c3', name: 'Cursor' };

async function start(browser = new FakeChrome().install()) {
  const told: string[] = [];
  const groups = new Groups({
    claimed: () => {},
    taken: (tabId) => told.push(`taken ${tabId}`),
    given: (tabId, client) => told.push(`given ${tabId}${client ? ` to ${client.id}` : ''}`),
    changed: () => {},
  });
  const isNew = await groups.load();
  return { browser, groups, told, isNew };
}

test('a title is the name, with a number where it is taken', () => {
  assert.equal(titleFor('Cursor', []), 'Cursor');
  assert.equal(titleFor('Cursor', ['Cursor']), 'Cursor 2');
  assert.equal(titleFor('Cursor', ['Cursor', 'Cursor 2', 'Cursor 4']), 'Cursor 3');
  assert.equal(titleFor('  ', []), 'AI client');
  assert.equal(titleFor('x'.repeat(500), []).length, 40);
});

test('a client has the same colour always, and clients have different ones', () => {
  assert.equal(colourFor('c1'), colourFor('c1'));
  const seen = new Set(Array.from({ length: 64 }, (_, n) => colourFor(`client-${n}`)));
  assert.deepEqual([...seen].sort(), [...COLOURS].sort());
});

test('each client has a group of its own, named after it', async () => {
  const { browser, groups } = await start();
  const [a, b, c, d] = [browser.open(), browser.open(), browser.open(), browser.open()];
  await groups.claim(a, CLAUDE);
  await groups.claim(b, CLAUDE);
  await groups.claim(c, OTHER_CLAUDE);
  await groups.claim(d, CURSOR);
  const titles = [a, b, c, d].map((tab) => browser.groupOf(tab));
  assert.deepEqual(titles, ['claude-code', 'claude-code', 'claude-code 2', 'Cursor']);
  assert.equal(browser.groups.size, 3);
  assert.deepEqual(groups.tabsOf('c1'), [a, b]);
  const [first] = browser.groups.values();
  assert.equal(first?.color, colourFor('c1'));
});

test('two claims at once make one group', async () => {
  const { browser, groups } = await start();
  const tabs = [browser.open(), browser.open(), browser.open()];
  await Promise.all(tabs.map((tab) => groups.claim(tab, CLAUDE)));
  assert.equal(browser.groups.size, 1);
});

test('a client with tabs in two windows has a group in each', async () => {
  const { browser, groups } = await start();
  const [a, b] = [browser.open({ windowId: 1 }), browser.open({ windowId: 2 })];
  await groups.claim(a, CLAUDE);
  await groups.claim(b, CLAUDE);
  assert.deepEqual(
    [...browser.groups.values()].map(({ windowId }) => windowId),
    [1, 2],
  );
});

test('groups outlive the worker', async () => {
  const { browser, groups, isNew } = await start();
  const [a, b] = [browser.open(), browser.open()];
  await groups.claim(a, CLAUDE);
  const again = await start(browser);
  await again.groups.claim(b, CLAUDE);
  assert.deepEqual([isNew, again.isNew], [true, false]);
  assert.equal(browser.groups.size, 1);
  assert.deepEqual(again.groups.tabsOf('c1'), [a, b]);
});

test('a pinned tab is driven but stays where it is', async () => {
  const { browser, groups } = await start();
  const tab = browser.open({ pinned: true });
  await groups.claim(tab, CLAUDE);
  assert.equal(browser.groupOf(tab), undefined);
  assert.deepEqual(groups.tabsOf('c1'), [tab]);
});

test('a released tab goes back to the group it came from', async () => {
  const { browser, groups } = await start();
  const [own, other] = [browser.open(), browser.open()];
  const mine = browser.group({ tabIds: [own, other], createProperties: { windowId: 1 } });
  await groups.claim(own, CLAUDE);
  assert.equal(browser.groupOf(own), 'claude-code');
  await groups.release(own);
  assert.equal(browser.tabs.get(own)?.groupId, mine);
  assert.deepEqual(groups.drivers, []);
});

test('what the user takes back is refused until it is given again', async () => {
  const { browser, groups, told } = await start();
  const tab = browser.open();
  await groups.claim(tab, CLAUDE);
  await groups.take(tab);
  assert.equal(browser.groupOf(tab), undefined);
  await assert.rejects(groups.claim(tab, CLAUDE), { code: 'STOPPED_BY_USER' });
  await groups.give(tab);
  await groups.claim(tab, CLAUDE);
  assert.deepEqual(told, [`taken ${tab}`, `given ${tab}`]);
  assert.equal(browser.groupOf(tab), 'claude-code');
});

test('dragging a tab out of its group takes it back', async () => {
  const { browser, groups, told } = await start();
  const [tab, other] = [browser.open(), browser.open()];
  await groups.claim(tab, CLAUDE);
  await groups.claim(other, CLAUDE);
  browser.ungroup([tab]);
  await groups.regrouped(tab, -1);
  assert.deepEqual(told, [`taken ${tab}`]);
  assert.deepEqual(groups.tabsOf('c1'), [other]);
});

test('a group that is dragged as a whole is not taken back', async () => {
  const { browser, groups, told } = await start();
  const tab = browser.open();
  await groups.claim(tab, CLAUDE);
  // It falls out of its group for a moment, and is in it again when one looks.
  await groups.regrouped(tab, -1);
  assert.deepEqual(told, []);
});

test('dragging a tab into another client’s group takes it from the one and gives it to the other', async () => {
  const { browser, groups, told } = await start();
  const [a, b] = [browser.open(), browser.open()];
  await groups.claim(a, CLAUDE);
  await groups.claim(b, CURSOR);
  const into = browser.tabs.get(b)?.groupId ?? -1;
  browser.group({ tabIds: [a], groupId: into });
  await groups.regrouped(a, into);
  assert.deepEqual(told, [`taken ${a}`, `given ${a} to c3`]);
  assert.deepEqual([groups.taken, groups.tabsOf('c3')], [[], [b, a]]);
});

test('dragging a tab of the user’s own into a client’s group gives it to that client', async () => {
  const { browser, groups, told } = await start();
  const [its, mine, taken] = [browser.open(), browser.open(), browser.open()];
  await groups.claim(its, CLAUDE);
  await groups.claim(taken, CURSOR);
  await groups.take(taken);
  const into = browser.tabs.get(its)?.groupId ?? -1;
  browser.group({ tabIds: [mine, taken], groupId: into });
  await Promise.all([groups.regrouped(mine, into), groups.regrouped(taken, into)]);
  assert.deepEqual(told, [`taken ${taken}`, `given ${mine} to c1`, `given ${taken} to c1`]);
  assert.deepEqual([groups.tabsOf('c1'), groups.taken], [[its, mine, taken], []]);
});

test('a tab that is in a client’s group only for a moment is not given', async () => {
  const { browser, groups, told } = await start();
  const [its, mine] = [browser.open(), browser.open()];
  await groups.claim(its, CLAUDE);
  await groups.regrouped(mine, browser.tabs.get(its)?.groupId ?? -1);
  assert.deepEqual([told, groups.isDriven(mine)], [[], false]);
});

test('the user gives a tab to a client, whoever had it', async () => {
  const { browser, groups, told } = await start();
  const [mine, others] = [browser.open(), browser.open()];
  await groups.giveTo(mine, CLAUDE);
  await groups.giveTo(mine, CLAUDE);
  assert.equal(browser.groupOf(mine), 'claude-code');
  await groups.claim(others, CURSOR);
  await groups.giveTo(others, CLAUDE);
  assert.deepEqual(told, [`given ${mine} to c1`, `taken ${others}`, `given ${others} to c1`]);
  assert.deepEqual(groups.tabsOf('c1'), [mine, others]);
});

test('a tab is told as given only when what follows from its claim is done', async () => {
  const browser = new FakeChrome().install();
  const told: string[] = [];
  const groups = new Groups({
    claimed: async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      told.push('claimed');
    },
    taken: () => {},
    given: () => told.push('given'),
    changed: () => {},
  });
  await groups.load();
  await groups.giveTo(browser.open({ pinned: true }), CLAUDE);
  assert.deepEqual(told, ['claimed', 'given']);
});

test('a tab that is handed over is on its way until the other uses it, and a released one is not', async () => {
  const { browser, groups } = await start();
  const [tab, nobodys] = [browser.open(), browser.open()];
  await groups.claim(tab, CLAUDE);
  await groups.release(tab, true);
  await groups.release(nobodys, true);
  assert.deepEqual([groups.isOffered(tab), groups.isDriven(tab)], [true, false]);
  assert.equal(groups.isOffered(nobodys), false, 'nobody had it');
  await groups.claim(tab, CURSOR);
  assert.equal(groups.isOffered(tab), false);
  await groups.release(tab);
  assert.equal(groups.isOffered(tab), false);
});

test('a group that the user collapses is opened again', async () => {
  const { browser, groups } = await start();
  const tab = browser.open();
  await groups.claim(tab, CLAUDE);
  const [group] = browser.groups.values();
  assert.ok(group !== undefined);
  group.collapsed = true;
  await groups.groupUpdated({ ...group, color: 'blue', shared: false });
  assert.equal(group.collapsed, false);
});

test('the last tab of a client takes its group along', async () => {
  const { browser, groups } = await start();
  const [tab, child] = [browser.open(), browser.open()];
  await groups.claim(tab, CLAUDE);
  // A page's own new tab lands in the group of the page.
  browser.group({ tabIds: [child], groupId: browser.tabs.get(tab)?.groupId ?? -1 });
  browser.tabs.delete(tab);
  await groups.removed(tab);
  assert.equal(browser.groups.size, 0);
  assert.deepEqual(groups.drivers, []);
});
