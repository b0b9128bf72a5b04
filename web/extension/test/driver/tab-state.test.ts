import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Ending,
  endLifetime,
  KeptTabPart,
  knownTabs,
  registerTabState,
  restoreTabs,
  TabPart,
} from '../../src/driver/tab/tab-state';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
registerTabState();

const DETACHED: Ending = { type: 'detached', reason: 'idle' };
const readText = (kept: unknown) => (typeof kept === 'string' ? kept : undefined);
const undone: string[] = [];
const undo = (value: string, tabId: number, { type }: Ending) =>
  undone.push(`${value} ${tabId} ${type}`);
const kept = new KeptTabPart('kept', { lifetimes: ['attachment'], read: readText, undo });

// First: nothing has been read yet.
test('what ended before it was read ends when it is, and is kept no more', async () => {
  for (const tabId of [1, 2, 3, 4]) {
    await browser.session.set({ [`driver.kept.${tabId}`]: `k${tabId}` });
  }
  await browser.session.set({ 'driver.kept.5': 5, 'driver.other.1': 'x', odd: 'x' });
  await endLifetime(1, DETACHED);
  browser.event('tabs.onRemoved').raise(2);
  await endLifetime(3, { type: 'left' });
  kept.delete(4);
  assert.deepEqual(undone, []);
  await restoreTabs();
  assert.deepEqual(undone, ['k1 1 detached', 'k2 2 closed']);
  assert.deepEqual(kept.tabs(), [3], 'another document is no end of an attachment');
  const keys = [...browser.session.values.keys()].filter((key) => key.startsWith('driver.kept.'));
  assert.deepEqual(keys, ['driver.kept.3', 'driver.kept.5']);
  browser.session.values.clear();
  await endLifetime(3, { type: 'closed' });
  undone.splice(0);
});

test('a part lasts until the first of its lifetimes ends, and a closed tab has none', async () => {
  const parts = {
    tab: new TabPart(['tab'], undo),
    document: new TabPart(['document'], undo),
    attachment: new TabPart(['attachment'], undo),
    both: new TabPart(['attachment', 'use'], undo),
  };
  const check = async (ending: Ending, expected: readonly string[]) => {
    for (const [name, part] of Object.entries(parts)) part.set(7, name);
    await endLifetime(7, ending);
    assert.deepEqual(
      undone.splice(0),
      expected.map((name) => `${name} 7 ${ending.type}`),
    );
    for (const [name, part] of Object.entries(parts)) {
      assert.equal(part.has(7), !expected.includes(name), name);
    }
  };
  await check({ type: 'left' }, ['document']);
  await check(DETACHED, ['attachment', 'both']);
  await check({ type: 'released' }, ['both']);
  await check({ type: 'stopped' }, ['both']);
  assert.deepEqual(knownTabs(), [7]);
  await check({ type: 'closed' }, ['tab', 'document', 'attachment', 'both']);
  assert.deepEqual(knownTabs(), []);
});

test('all parts are gone before the first is undone, and one that fails hinders no other', async () => {
  const seen: unknown[] = [];
  const look = () => {
    seen.push(one.get(8), other.get(8));
    throw new Error('as it happens');
  };
  const one = new TabPart<string>(['use'], look);
  const other = new TabPart<string>(['use'], look);
  one.set(8, 'a');
  other.set(8, 'b');
  await endLifetime(8, { type: 'released' });
  assert.deepEqual(seen, [undefined, undefined, undefined, undefined]);
});

test('the browser tells of documents, of frames and of tabs that are replaced', () => {
  const document = new TabPart<true>(['document']);
  const commit = (frameId: number, documentLifecycle?: string) =>
    browser.event('webNavigation.onCommitted').raise({ tabId: 9, frameId, documentLifecycle });
  document.set(9, true);
  commit(3);
  commit(0, 'prerender');
  assert.equal(document.has(9), true);
  commit(0);
  assert.equal(document.has(9), false);
  document.set(9, true);
  browser.event('tabs.onReplaced').raise(10, 9);
  assert.equal(document.has(9), false);
});

test('what is kept is written as it is packed, and no more when it ends', async () => {
  const packed = new KeptTabPart<{ text: string; more: string }>('packed', {
    lifetimes: ['tab'],
    read: (text) => (typeof text === 'string' ? { text, more: '' } : undefined),
    pack: ({ text }) => text,
  });
  await packed.set(11, { text: 'a', more: 'b' });
  packed.setUnkept(11, { text: 'c', more: 'd' });
  assert.equal(browser.session.values.get('driver.packed.11'), 'a');
  await restoreTabs();
  assert.equal(packed.get(11)?.text, 'c', 'what is known already is not read again');
  packed.delete(11);
  assert.equal(browser.session.values.has('driver.packed.11'), false);
});
