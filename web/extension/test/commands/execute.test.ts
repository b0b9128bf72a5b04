import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/command';
import type { Services } from '../../src/driver/common/services';
import { execute, registerDriver } from '../../src/execute';
import { FakeDriverChrome } from '../driver/fake-driver-chrome';
import { fakeCall } from '../support/fake-call';
import { fakeServices } from '../support/fake-services';

const browser = new FakeDriverChrome().install();
browser.tabs.set(1, { id: 1, url: 'https://a.test/', title: 'A', frozen: false });
browser.tabs.set(2, { id: 2, url: 'chrome://settings/', title: 'S', frozen: false });
registerDriver();

interface World {
  readonly services?: Partial<Services>;
  readonly tabId?: number;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

function run(toolName: string, args: unknown, world: World = {}): Promise<unknown> {
  const { services, tabId, deadlineMs = 60_000, signal = new AbortController().signal } = world;
  const call = fakeCall(toolName, args, { tabId, deadlineMs });
  return execute(call, { signal }, fakeServices(services));
}

async function refused(work: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof CommandError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });
}

test('an unknown command is refused by name', async () => {
  await refused(run('browser_fly', {}), 'unknown_tool', /browser_fly/);
});

test('arguments are checked before anybody is asked', async () => {
  const services = { isStopped: () => assert.fail('asked too early') };
  const world = { tabId: 1, services };
  await refused(run('browser_navigate', {}, world), 'INVALID_ARGUMENT', /url is missing/);
});

test('a stopped browser does nothing', async () => {
  const world = { tabId: 1, services: { isStopped: () => true } };
  await refused(run('browser_snapshot', {}, world), 'STOPPED_BY_USER', /stopped/);
});

test('who may only look may not act', async () => {
  const world = { tabId: 1, services: { isReadOnly: () => true } };
  const click = run('browser_mouse_click', { selector: 'a' }, world);
  await refused(click, 'READ_ONLY', /browser_mouse_click/);
  await refused(run('browser_tab_new', {}, world), 'READ_ONLY', /browser_tab_new/);
  assert.deepEqual(Object.keys(Object(await run('browser_wait_for', { timeMs: 1 }, world))), [
    'found',
    'waitedMs',
  ]);
});

test('a tab must be said and be there', async () => {
  await refused(run('browser_snapshot', {}), 'TAB_NOT_FOUND', /needs a tab/);
  await refused(run('browser_snapshot', {}, { tabId: 9 }), 'TAB_NOT_FOUND', /no tab 9/);
});

test('pages of the browser itself are restricted', async () => {
  await refused(run('browser_snapshot', {}, { tabId: 2 }), 'RESTRICTED_PAGE', /chrome: pages/);
});

test('a site that is not allowed is neither read nor gone to', async () => {
  const checkSite = (url: string) => {
    if (url.includes('a.test')) throw new CommandError('SITE_NOT_ALLOWED', 'no');
  };
  const services = { checkSite };
  const reading = run('browser_snapshot', {}, { tabId: 1, services });
  await refused(reading, 'SITE_NOT_ALLOWED', /no/);
  const going = run('browser_navigate', { url: 'https://a.test' }, { tabId: 2, services });
  await refused(going, 'SITE_NOT_ALLOWED', /no/);
});

test('an empty page is as allowed as the page that has opened it', async () => {
  browser.tabs.set(3, { id: 3, url: 'about:blank', title: 'Statement', frozen: false });
  const checkSite = (url: string) => {
    if (url.includes('a.test')) throw new CommandError('SITE_NOT_ALLOWED', 'no');
  };
  const world = { tabId: 3, services: { checkSite, limitsSites: () => true } };
  const opened = (securityOrigin: string) => {
    const answers: Record<string, unknown> = {
      'Page.getFrameTree': { frameTree: { frame: { securityOrigin } } },
      'Runtime.evaluate': { result: { value: 42 } },
    };
    browser.answer = (_, method) => answers[method] ?? {};
    return run('browser_evaluate', { expression: 'opener.document.title' }, world);
  };
  await refused(opened('https://a.test'), 'SITE_NOT_ALLOWED', /no/);
  assert.equal(await opened('https://b.test'), 42);
  assert.equal(await opened('://'), 42, 'nobody has opened it');
  browser.answer = () => ({});
});

test('an open dialog is quoted to every call but its answer', async () => {
  const opening = { type: 'confirm', message: 'Sure?' };
  browser.event('debugger.onEvent').raise({ tabId: 1 }, 'Page.javascriptDialogOpening', opening);
  await refused(run('browser_snapshot', {}, { tabId: 1 }), 'DIALOG_OPEN', /confirm.*"Sure\?"/);
  await refused(run('browser_tab_close', {}, { tabId: 1 }), 'DIALOG_OPEN', /browser_debug/);
  browser.event('debugger.onEvent').raise({ tabId: 1 }, 'Page.javascriptDialogClosed', {});
  const answer = run('browser_handle_dialog', { dialogAction: 'accept' }, { tabId: 1 });
  await refused(answer, 'NO_DIALOG', /no dialog/);
});

test('a withdrawn call ends at once', async () => {
  const controller = new AbortController();
  const waiting = run(
    'browser_wait_for',
    { timeMs: 50_000 },
    { tabId: 1, signal: controller.signal },
  );
  setTimeout(() => controller.abort(new Error('withdrawn')), 5);
  await assert.rejects(waiting, /withdrawn/);
});

test('a call ends by its deadline, not when its work would', async () => {
  const began = performance.now();
  const waiting = run('browser_wait_for', { timeMs: 60_000 }, { tabId: 1, deadlineMs: 200 });
  await assert.rejects(waiting);
  assert.ok(performance.now() - began < 30_000);
});

test('a new tab that loaded before it was watched ends when it says that it is done', async () => {
  const tab = { id: 5, url: 'https://b.test/', title: 'B', frozen: false };
  const openTab: Services['openTab'] = async () => {
    browser.tabs.set(5, { ...tab, status: 'loading' });
    browser.event('webNavigation.onCompleted').raise({ tabId: 5, frameId: 0 });
    return { id: 5 } as chrome.tabs.Tab;
  };
  const opening = run('browser_tab_new', { url: tab.url }, { services: { openTab } });
  setTimeout(() => {
    browser.tabs.set(5, { ...tab, status: 'complete' });
    browser.event('tabs.onUpdated').raise(5, { status: 'complete' });
  }, 20);
  const began = performance.now();
  assert.deepEqual(await opening, { tab: 5, url: tab.url, title: 'B' });
  assert.ok(performance.now() - began < 9_000, 'it did not wait for the limit');
});
