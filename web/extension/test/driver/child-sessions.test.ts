import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { emulate, registerEmulation } from '../../src/driver/emulation/emulation';
import {
  followFrames,
  letFramesLoad,
  onChildSession,
  registerChildSessions,
  sendToChildren,
} from '../../src/driver/tab/child-sessions';
import { detachAll, openSession, registerDebugger } from '../../src/driver/tab/debugger';
import { fakePage } from '../support/fake-page';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
registerDebugger();
registerChildSessions();
registerEmulation();
let needsWaiting = false;

after(detachAll);
onChildSession({ prepare: async () => {}, waits: () => needsWaiting });

const AUTO_ATTACH = 'Target.setAutoAttach';
const soon = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  browser.asked.splice(0);
  needsWaiting = false;
});

function meet(tabId: number, sessionId: string, waitingForDebugger = false): void {
  const params = { sessionId, waitingForDebugger };
  browser.event('debugger.onEvent').raise({ tabId }, 'Target.attachedToTarget', params);
}

function asked(entry: string): number {
  return browser.asked.filter((text) => text === entry).length;
}

test('a worker that is told of a frame before it follows the tab still asks for all frames', async () => {
  meet(1, 'one', true);
  const session = await openSession(1);
  await followFrames(session, true);
  assert.equal(asked(`1 ${AUTO_ATTACH}`), 2, 'off and on again, which tells those there are');
  meet(1, 'another');
  await sendToChildren(1, 'Network.setExtraHTTPHeaders', { headers: {} });
  assert.equal(asked('1/one Network.setExtraHTTPHeaders'), 1);
  assert.equal(asked('1/another Network.setExtraHTTPHeaders'), 1);
  await followFrames(session, true);
  assert.equal(asked(`1 ${AUTO_ATTACH}`), 2, 'once is enough');
  session.release();
});

test('frames are let load at once only when nobody needs them to wait', async () => {
  const session = await openSession(2);
  await followFrames(session, true);
  const before = asked(`2 ${AUTO_ATTACH}`);
  needsWaiting = true;
  await letFramesLoad(session);
  assert.equal(asked(`2 ${AUTO_ATTACH}`), before);
  needsWaiting = false;
  await letFramesLoad(session);
  assert.equal(asked(`2 ${AUTO_ATTACH}`), before + 1);
  session.release();
});

test('a frame sees what its tab does before it goes on, and no more when that ends', async () => {
  const page = fakePage(3);
  meet(3, 'early');
  await soon();
  await emulate(page, {
    timezoneId: 'Asia/Tokyo',
    viewport: { width: 9, height: 9, mobile: false },
  });
  assert.equal(asked('3/early Emulation.setTimezoneOverride'), 1);
  assert.equal(asked('3/early Emulation.setDeviceMetricsOverride'), 0, 'it has a size of its own');
  meet(3, 'late', true);
  await soon();
  const late = browser.asked.filter((text) => text.startsWith('3/late '));
  const zone = late.indexOf('3/late Emulation.setTimezoneOverride');
  assert.ok(zone >= 0 && zone < late.indexOf('3/late Runtime.runIfWaitingForDebugger'), `${late}`);
  await emulate(page, { timezoneId: undefined, viewport: undefined });
  for (const frame of ['early', 'late']) {
    assert.equal(asked(`3/${frame} Emulation.setTimezoneOverride`), 2, frame);
  }
  meet(3, 'last');
  await soon();
  assert.equal(asked('3/last Emulation.setTimezoneOverride'), 0);
  page.close();
});

test('a frame that comes while something is being set sees it too', async () => {
  browser.answer = (_tabId, method) => {
    if (method === 'Emulation.setEmulatedMedia') meet(4, 'between');
    return {};
  };
  const page = fakePage(4);
  await emulate(page, { timezoneId: 'Asia/Tokyo', colorScheme: 'dark' });
  browser.answer = () => ({});
  await soon();
  assert.ok(asked('4/between Emulation.setTimezoneOverride') >= 1);
  page.close();
});
