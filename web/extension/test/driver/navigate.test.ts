import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/command';
import { execute, registerDriver } from '../../src/execute';
import { fakeCall } from '../support/fake-call';
import { fakeServices } from '../support/fake-services';
import { FakeDriverChrome } from './fake-driver-chrome';

const DEAD = 'http://nowhere.invalid/';
const ALIVE = 'http://a.test/here';

const browser = new FakeDriverChrome().install();
browser.tabs.set(1, { id: 1, url: DEAD, title: '', frozen: false });
registerDriver();

function run(toolName: string, args: unknown): Promise<unknown> {
  const call = fakeCall(toolName, args, { tabId: 1 });
  return execute(call, { signal: new AbortController().signal }, fakeServices());
}

const navigate = (url: string) => run('browser_navigate', { url });

function fail(url: string, error = 'net::ERR_NAME_NOT_RESOLVED'): void {
  const details = { tabId: 1, frameId: 0, url, error, timeStamp: Date.now() + 1 };
  browser.event('webNavigation.onErrorOccurred').raise(details);
}

function arrive(url: string): void {
  const place = { tabId: 1, frameId: 0, url, documentId: 'D1' };
  browser.event('webNavigation.onBeforeNavigate').raise(place);
  browser.event('webNavigation.onCommitted').raise(place);
  browser.event('webNavigation.onCompleted').raise(place);
}

test('the failure of an earlier journey that is told late does not end the next', async () => {
  browser.answer = (_tabId, method) => {
    if (method !== 'Page.navigate') return {};
    fail(DEAD);
    setTimeout(() => arrive(ALIVE), 5);
    return { frameId: 'F' };
  };
  const report = await navigate(ALIVE);
  assert.equal(Object(report).navigated, true);
});

test('a journey ends with its own failure, told by its start or by an event', async () => {
  const isFailure = (error: unknown) =>
    error instanceof CommandError &&
    error.code === 'NAVIGATION_FAILED' &&
    /ERR_NAME_NOT_RESOLVED/.test(error.message);
  const ends = [() => ({ errorText: 'net::ERR_NAME_NOT_RESOLVED' }), () => ({ frameId: 'F' })];
  for (const end of ends) {
    browser.answer = (_tabId, method) => {
      if (method !== 'Page.navigate') return {};
      setTimeout(() => fail(DEAD), 5);
      return end();
    };
    await assert.rejects(navigate(DEAD), isFailure);
  }
});

test('a load that is given up for another does not end that', async () => {
  const aborted = 'net::ERR_ABORTED';
  const steps: ReadonlyArray<[string, object]> = [
    ['Page.navigate', { url: ALIVE }],
    ['Page.navigateToHistoryEntry', {}],
  ];
  for (const [method, args] of steps) {
    browser.answer = (_tabId, asked) => {
      if (asked === 'Page.getNavigationHistory') return { currentIndex: 1, entries: [{ id: 7 }] };
      if (asked !== method) return {};
      fail('http://a.test/slow', aborted);
      // Later than what an abort is given to turn out as something else.
      setTimeout(() => arrive(ALIVE), 300);
      return { frameId: 'F' };
    };
    const tool = method === 'Page.navigate' ? 'browser_navigate' : 'browser_go_back';
    assert.equal(Object(await run(tool, args)).navigated, true, tool);
  }
});
