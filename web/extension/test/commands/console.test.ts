import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/command';
import { providePermissions } from '../../src/driver/common/permissions';
import { execute, registerDriver } from '../../src/execute';
import { FakeDriverChrome } from '../driver/fake-driver-chrome';
import { fakeCall } from '../support/fake-call';
import { fakeServices } from '../support/fake-services';

const browser = new FakeDriverChrome().install();
registerDriver();
const isAllowed = (url: string) => !url.includes('denied.test');
providePermissions({ allows: isAllowed, drives: (tabId) => tabId === 1 });

const told: unknown[] = [];
const services = fakeServices({
  checkSite: (url) => {
    if (!isAllowed(url)) throw new CommandError('SITE_NOT_ALLOWED', 'denied');
  },
  limitsSites: () => true,
  emit: (name, data) => {
    if (name === 'console') told.push(Object(data).text);
  },
});

async function readLogs() {
  const call = fakeCall('browser_get_console_logs', {}, { tabId: 1 });
  const { logs } = Object(await execute(call, new AbortController(), services));
  return logs.map(({ text }: { text: string }) => text);
}

function say(text: string, url: string): void {
  const stackTrace = { callFrames: [{ url, lineNumber: 1 }] };
  const params = { type: 'log', timestamp: Date.now(), args: [{ value: text }], stackTrace };
  browser.event('debugger.onEvent').raise({ tabId: 1 }, 'Runtime.consoleAPICalled', params);
}

test('what denied sites write to a console is neither told nor read', async () => {
  const tab = { id: 1, url: 'https://a.test/', title: 'A', frozen: false };
  browser.tabs.set(1, tab);
  await readLogs();
  say('open', 'https://a.test/a.js');
  say('secret', 'https://denied.test/a.js');
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(told, ['open']);
  assert.deepEqual(await readLogs(), ['open']);
  browser.tabs.set(1, { ...tab, url: 'https://denied.test/' });
  say('by a library', 'https://cdn.test/a.js');
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(told, ['open']);
});
