import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  headersOf,
  registerTabRules,
  resumeRules,
  setHeaders,
  takeEnding,
} from '../../src/driver/network/tab-rules';
import { adoptAttachments, detachAll, registerDebugger } from '../../src/driver/tab/debugger';
import { keepsAttached, registerTabState, restoreTabs } from '../../src/driver/tab/tab-state';
import { fakePage } from '../support/fake-page';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
const soon = () => new Promise((resolve) => setImmediate(resolve));
const kept = () => [...browser.session.values.keys()];

after(detachAll);

test('a closed tab that wakes the worker takes no rules but its own with it', async () => {
  const rules = { mocks: [], headers: { 'x-a': '1' } };
  for (const tabId of [1, 2, 3]) {
    await browser.session.set({ [`driver.rules.${tabId}`]: rules });
  }
  // The dead worker was taking the last rule of tab 5 out.
  await browser.session.set({ 'driver.rules.5': { mocks: [], headers: {} } });
  // The dead worker's attachments live on; tab 3 was let go while nobody looked.
  browser.attached.add(1).add(2).add(5);
  registerDebugger();
  registerTabRules();
  registerTabState();
  browser.event('tabs.onRemoved').raise(1);
  await soon();
  assert.equal(kept().length, 4, 'nothing is kept before all is known');
  await restoreTabs();
  await adoptAttachments();
  resumeRules();
  await soon();
  assert.deepEqual(headersOf(1), {});
  assert.deepEqual(headersOf(2), { 'x-a': '1' });
  assert.match(takeEnding(3) ?? '', /ended, because the debugger was detached/);
  assert.deepEqual(kept(), ['driver.rules.2', 'driver.rules.5']);
  assert.deepEqual([keepsAttached(2), keepsAttached(5)], [true, false]);
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
