/**
 * Pages that are closed to clients: files and the hub's own. No command goes there, and none does
 * anything in a tab that has come there some other way.
 */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { services } from '../../src/background/services';
import { CommandError } from '../../src/command';
import { COMMANDS } from '../../src/commands';
import type { Services } from '../../src/driver/common/services';
import { withoutDenied } from '../../src/driver/page/denied-frames';
import { execute, registerDriver } from '../../src/execute';
import { DEFAULT_SETTINGS } from '../../src/settings';
import { FakeDriverChrome } from '../driver/fake-driver-chrome';
import { fakeCall } from '../support/fake-call';
import { fakePage } from '../support/fake-page';
import { fakeServices } from '../support/fake-services';

const browser = new FakeDriverChrome().install();
registerDriver();

const HUB = 8765;
const CLOSED = [
  'file:///etc/passwd',
  `http://127.0.0.1:${HUB}/dashboard/`,
  `http://localhost:${HUB}/api/sessions`,
  `http://[::1]:${HUB}/`,
];

/** The shell's own judgement; of the rest nothing is asked. */
const judging = { settings: () => DEFAULT_SETTINGS, hubPorts: () => [HUB] };
const { checkSite } = services(judging as unknown as Parameters<typeof services>[0]);

beforeEach(() => {
  browser.asked.length = 0;
  browser.answer = () => ({});
  browser.content = () => assert.fail('a closed page was entered');
});

function run(toolName: string, args: unknown, more: Partial<Services> = {}): Promise<unknown> {
  const call = fakeCall(toolName, args, { tabId: 1, deadlineMs: 5_000 });
  const own = fakeServices({ checkSite, tabsOf: () => [1], ...more });
  return execute(call, { signal: new AbortController().signal }, own);
}

function show(url: string): void {
  browser.tabs.set(1, { id: 1, url, title: 'secret title', frozen: false, status: 'complete' });
}

const isClosed = (error: unknown) =>
  error instanceof CommandError &&
  error.code === 'RESTRICTED_PAGE' &&
  !/secret/.test(error.message);

/** The arguments that commands cannot do without. */
const ARGS: Readonly<Record<string, object>> = {
  browser_emulate_device: { device: 'iPhone 15' },
  browser_evaluate: { expression: '1' },
  browser_fill_form: { fields: [{ selector: 'a', value: 'x' }] },
  browser_get_attribute: { selector: 'a', attribute: 'href' },
  browser_get_request: { id: '1' },
  browser_handle_dialog: { dialogAction: 'accept' },
  browser_intercept_requests: { enabled: true },
  browser_keyboard_press: { key: 'a' },
  browser_mock_request: { url: '/x' },
  browser_query_selector: { selector: 'a' },
  browser_select: { selector: 'a', value: 'x' },
  browser_set_cookie: { name: 'a', value: 'b', url: 'https://a.test/' },
  browser_set_geolocation: { latitude: 1, longitude: 1 },
  browser_set_headers: { headers: {} },
  browser_set_local_storage: { key: 'a', value: 'b' },
  browser_set_locale: { locale: 'de' },
  browser_set_offline: { offline: true },
  browser_set_timezone: { timezoneId: 'Europe/Berlin' },
  browser_set_user_agent: { userAgent: 'x' },
  browser_set_viewport: { width: 100, height: 100 },
  browser_type: { selector: 'a', text: 'x' },
  browser_upload_file: { selector: 'a', files: [] },
  browser_upload_part: { uploadId: 'u', file: 0, offset: 0, data: '' },
  browser_wait_for_request: { url: '/x' },
};

test('nobody goes to a closed page, neither in a tab nor in a new one', async () => {
  show('https://a.test/');
  const openTab = () => assert.fail('a tab was opened');
  for (const url of [...CLOSED, 'data:text/html,x', 'view-source:https://a.test/']) {
    await assert.rejects(run('browser_navigate', { url }), isClosed, url);
    await assert.rejects(run('browser_tab_new', { url }, { openTab }), isClosed, url);
  }
  assert.deepEqual(browser.asked, []);
});

test('no command but those that leave it does anything in a tab that shows a closed page', async () => {
  const others = COMMANDS.filter(({ on }) => on !== 'browser' && on !== 'tab');
  assert.ok(others.length > 40);
  for (const url of CLOSED) {
    show(url);
    for (const { name } of others) {
      await assert.rejects(run(name, ARGS[name] ?? {}), isClosed, `${name} at ${url}`);
    }
  }
  assert.deepEqual(browser.asked, [], 'the debugger was not even attached');
});

test('no command reads or touches a page that is not of the web', async () => {
  for (const url of ['data:text/html,secret', 'blob:null/4f6e', 'chrome://version/']) {
    show(url);
    for (const { name } of COMMANDS.filter(({ on }) => on === 'page')) {
      await assert.rejects(run(name, ARGS[name] ?? {}), isClosed, `${name} at ${url}`);
    }
  }
  assert.deepEqual(browser.asked, []);
});

test('the tools of a closed page are neither listed nor called', async () => {
  for (const url of CLOSED) {
    show(url);
    const own = fakeServices({ checkSite });
    const { signal } = new AbortController();
    const list = { type: 'discoverTools', callId: 'c1', tabId: 1, deadlineMs: 5_000 } as const;
    await assert.rejects(execute(list, { signal }, own), isClosed);
    const call = { ...fakeCall('pay', {}, { tabId: 1 }), target: 'page' as const };
    await assert.rejects(execute(call, { signal }, own), isClosed);
  }
});

test('history does not lead to a closed page', async () => {
  for (const url of CLOSED) {
    show('https://a.test/');
    browser.answer = (_, method) =>
      method === 'Page.getNavigationHistory'
        ? { currentIndex: 1, entries: [{ id: 1, url }, { id: 2 }, { id: 3, url }] }
        : {};
    for (const name of ['browser_go_back', 'browser_go_forward']) {
      await assert.rejects(run(name, {}), isClosed, url);
    }
    assert.ok(!browser.asked.includes('1 Page.navigateToHistoryEntry'), url);
  }
});

test('a page that leads to a closed one by itself is not told, in a tab or in a new one', async () => {
  for (const url of CLOSED) {
    show('https://a.test/');
    const arrive = () => {
      show(url);
      const place = { tabId: 1, frameId: 0, url, documentId: 'D1' };
      for (const event of ['onBeforeNavigate', 'onCommitted', 'onCompleted']) {
        browser.event(`webNavigation.${event}`).raise(place);
      }
    };
    browser.answer = (_, method) => {
      if (method === 'Page.navigate') arrive();
      return {};
    };
    await assert.rejects(run('browser_navigate', { url: 'https://b.test/' }), isClosed, url);
    show(url);
    const openTab: Services['openTab'] = async () => ({ id: 1 }) as chrome.tabs.Tab;
    const opening = run('browser_tab_new', { url: 'https://b.test/' }, { openTab });
    await assert.rejects(opening, isClosed, url);
  }
});

test('a closed page can be left, without a look into it', async () => {
  for (const url of CLOSED) {
    show(url);
    const update = async () => {
      const to = 'https://a.test/';
      show(to);
      const place = { tabId: 1, frameId: 0, url: to, documentId: 'D2' };
      for (const event of ['onBeforeNavigate', 'onCommitted', 'onCompleted']) {
        browser.event(`webNavigation.${event}`).raise(place);
      }
    };
    browser.content = () => null;
    Reflect.set(chrome.tabs, 'update', update);
    const report = Object(await run('browser_navigate', { url: 'https://a.test/' }));
    assert.equal(report.url, 'https://a.test/');
    assert.ok(!browser.asked.includes('attach 1'), url);
  }
});

test('frames of the hub’s own pages are in no picture, though the user denies nothing', async () => {
  const frame = (frameId: number, url: string) => {
    return { url, frameId, parentFrameId: frameId === 0 ? -1 : 0, documentId: `d${frameId}` };
  };
  browser.frames.set(1, [
    frame(0, 'https://a.test/'),
    frame(2, `http://127.0.0.1:${HUB}/dashboard/`),
    frame(3, 'https://b.test/'),
  ]);
  const told: string[] = [];
  browser.content = (method, args, { documentIds }) => {
    if (method === 'geometry') return { path: [Number(documentIds?.[0]?.slice(1))] };
    told.push(`${method} ${JSON.stringify(args)}`);
    return method === 'uncoverFrames';
  };
  const page = fakePage(1, { checkSite });
  await withoutDenied(page, async () => told.push('picture'));
  assert.deepEqual(told, ['coverFrames [[3]]', 'picture', 'uncoverFrames []']);
  browser.frames.delete(1);
});
