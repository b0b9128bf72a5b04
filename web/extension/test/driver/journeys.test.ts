import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { travel } from '../../src/driver/navigation/journeys';
import { registerPendingRequests } from '../../src/driver/network/pending-requests';
import { wakeTab } from '../../src/driver/page/sleeping-tabs';
import { registerSignals, Watch } from '../../src/driver/tab/signals';
import { registerTabState } from '../../src/driver/tab/tab-state';
import { fakePage } from '../support/fake-page';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
registerSignals();
registerPendingRequests();
registerTabState();

const URL = 'https://a.test/b';

function tab(id: number): void {
  browser.tabs.set(id, { id, url: 'https://a.test/', title: 'A', frozen: false });
}

function raise(event: string, tabId: number, more: object = {}): void {
  browser.event(`webNavigation.${event}`).raise({ tabId, frameId: 0, url: URL, ...more });
}

function commit(tabId: number): void {
  raise('onBeforeNavigate', tabId);
  raise('onCommitted', tabId, { documentId: 'B' });
}

function rest(tabId: number): void {
  browser.event('tabs.onUpdated').raise(tabId, { status: 'complete' });
}

test('a journey whose every event comes before its start answers is over at once', async () => {
  tab(1);
  const report = await travel(fakePage(1), {
    waitUntil: 'load',
    start: async () => {
      commit(1);
      raise('onDOMContentLoaded', 1);
      raise('onCompleted', 1);
      return undefined;
    },
  });
  assert.equal(report.navigated, true);
  assert.equal(report.busy, undefined);
});

test('a page that is stopped while it loads is there, though its load is never told', async () => {
  tab(2);
  const report = await travel(fakePage(2), {
    waitUntil: 'load',
    start: async () => {
      commit(2);
      raise('onErrorOccurred', 2, { error: 'net::ERR_ABORTED', timeStamp: Date.now() });
      rest(2);
      return undefined;
    },
  });
  assert.equal(report.navigated, true);
  assert.equal(report.busy, undefined);
});

test('the rest of a page that is being left is not that of the next', () => {
  const watch = new Watch(3);
  commit(3);
  raise('onBeforeNavigate', 3, { url: 'https://a.test/c' });
  rest(3);
  assert.equal(watch.loaded, false);
  raise('onCommitted', 3, { url: 'https://a.test/c', documentId: 'C' });
  assert.equal(watch.loaded || watch.rested, false);
  rest(3);
  assert.equal(watch.loaded, true);
  watch.close();
});

test('the failure of the page before is not that of the journey', async () => {
  tab(4);
  const report = await travel(fakePage(4), {
    waitUntil: 'domcontentloaded',
    start: async () => {
      const left = { url: 'https://a.test/', error: 'net::ERR_ABORTED', timeStamp: Date.now() };
      raise('onErrorOccurred', 4, left);
      commit(4);
      raise('onDOMContentLoaded', 4);
      return undefined;
    },
  });
  assert.equal(report.navigated, true);
});

test('a journey that fails says why, and one whose tab is closed is over', async () => {
  tab(5);
  const failing = travel(fakePage(5), {
    waitUntil: 'load',
    start: async () => {
      const error = 'net::ERR_CONNECTION_REFUSED';
      raise('onErrorOccurred', 5, { error, timeStamp: Date.now() });
      return undefined;
    },
  });
  await assert.rejects(failing, /could not be loaded: net::ERR_CONNECTION_REFUSED/);
  tab(6);
  const closing = await travel(fakePage(6), {
    waitUntil: 'load',
    start: async () => {
      browser.event('tabs.onRemoved').raise(6);
      return undefined;
    },
  });
  assert.equal(closing.closed, true);
});

test('a tab out of memory that cannot be loaded again keeps nobody waiting', async () => {
  tab(7);
  const reload = async (tabId: number) =>
    raise('onErrorOccurred', tabId, { error: 'net::ERR_FAILED', timeStamp: Date.now() });
  Reflect.set(chrome.tabs, 'reload', reload);
  const page = fakePage(7);
  const asleep = Object.assign(await page.tab(), { discarded: true });
  // No time passes here: only what happens can end the wait.
  mock.timers.enable({ apis: ['setTimeout'] });
  await wakeTab(page, asleep);
  mock.timers.reset();
});
