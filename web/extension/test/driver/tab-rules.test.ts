import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  headersOf,
  registerTabRules,
  restoreRules,
  setHeaders,
  takeEnding,
} from '../../src/driver/network/tab-rules';
import { adoptAttachments, detachAll, registerDebugger } from '../../src/driver/tab/debugger';
import { fakePage } from '../support/fake-page';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
const KEY = 'driver.rules';
const soon = () => new Promise((resolve) => setImmediate(resolve));
const kept = () => Object(browser.session.values.get(KEY));

after(detachAll);

test('a closed tab that wakes the worker takes no rules but its own with it', async () => {
  const rules = { mocks: [], headers: { 'x-a': '1' } };
  await browser.session.set({ [KEY]: { 1: rules, 2: rules, 3: rules } });
  // The dead worker's attachments live on; tab 3 was let go while nobody looked.
  browser.attached.add(1).add(2);
  registerDebugger();
  registerTabRules();
  browser.event('tabs.onRemoved').raise(1);
  await soon();
  assert.deepEqual(Object.keys(kept()), ['1', '2', '3'], 'nothing is kept before all is known');
  await adoptAttachments();
  await restoreRules();
  await soon();
  assert.deepEqual(headersOf(1), {});
  assert.deepEqual(headersOf(2), { 'x-a': '1' });
  assert.match(takeEnding(3) ?? '', /ended, because the debugger was detached/);
  assert.deepEqual(Object.keys(kept()), ['2']);
  assert.ok(browser.asked.includes('2 Network.setExtraHTTPHeaders'), 'in force again');
});

test('a call that is withdrawn while its rule is put in force leaves none', async () => {
  const controller = new AbortController();
  browser.answer = (tabId, method) => {
    if (tabId === 4 && method === 'Network.setExtraHTTPHeaders') controller.abort(new Error('off'));
    return {};
  };
  const page = fakePage(4, {}, controller.signal);
  await assert.rejects(setHeaders(page, { 'x-b': '2' }), /off/);
  browser.answer = () => ({});
  await soon();
  assert.deepEqual(headersOf(4), {});
  const sent = browser.asked.filter((text) => text === '4 Network.setExtraHTTPHeaders');
  assert.equal(sent.length, 2, 'set, and set back');
  page.close();
});
