import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { CommandError } from '../../src/command';
import {
  adoptAttachments,
  detachAll,
  isAttached,
  openSession,
  ProtocolFailure,
  registerDebugger,
} from '../../src/driver/tab/debugger';
import { registerDialogs } from '../../src/driver/tab/dialogs';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
registerDebugger();
registerDialogs();

const IDLE_MS = 30_000;
const soon = () => new Promise((resolve) => setImmediate(resolve));

function asked(entry: string): number {
  return browser.asked.filter((text) => text === entry).length;
}

test('two who use a tab at once share one attachment', async () => {
  const [one, other] = await Promise.all([openSession(1), openSession(1)]);
  assert.equal(asked('attach 1'), 1);
  for (const method of ['Page.enable', 'Network.enable', 'Page.startScreencast']) {
    assert.equal(asked(`1 ${method}`), 1, method);
  }
  one.release();
  other.release();
});

test('a tab is let go when it was idle for a while, and not before', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const one = await openSession(2);
  const other = await openSession(2);
  one.release();
  one.release();
  mock.timers.tick(IDLE_MS + 1);
  assert.equal(asked('detach 2'), 0);
  other.release();
  mock.timers.tick(IDLE_MS - 1);
  assert.equal(asked('detach 2'), 0);
  mock.timers.tick(2);
  assert.equal(asked('detach 2'), 1);
  assert.equal(isAttached(2), false);
  mock.timers.reset();
});

test('a tab with an open dialog is never let go', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const session = await openSession(3);
  const events = browser.event('debugger.onEvent');
  events.raise({ tabId: 3 }, 'Page.javascriptDialogOpening', { type: 'alert', message: 'hi' });
  session.release();
  mock.timers.tick(10 * IDLE_MS);
  assert.equal(asked('detach 3'), 0);
  events.raise({ tabId: 3 }, 'Page.javascriptDialogClosed', {});
  mock.timers.tick(IDLE_MS);
  assert.equal(asked('detach 3'), 1);
  mock.timers.reset();
});

test("the user's Cancel fails what runs, and only a new call attaches again", async () => {
  const session = await openSession(4);
  browser.attached.delete(4);
  browser.event('debugger.onDetach').raise({ tabId: 4 }, 'canceled_by_user');
  await soon();
  await assert.rejects(session.send('Page.enable'), (error) => {
    return error instanceof CommandError && /pressed Cancel/.test(error.message);
  });
  assert.equal(asked('attach 4'), 1);
  (await openSession(4)).release();
  assert.equal(asked('attach 4'), 2);
});

test('an attachment that an earlier worker left is adopted', async () => {
  browser.attached.add(5);
  await adoptAttachments();
  const session = await openSession(5);
  assert.equal(asked('attach 5'), 0);
  session.release();
  // Or met when attaching, if it was not told.
  browser.attached.add(6);
  (await openSession(6)).release();
  assert.equal(asked('attach 6'), 1);
});

test('what another debugger holds is refused', async () => {
  browser.attached.add(7);
  browser.answer = () => {
    throw new Error('Debugger is not attached to the tab with id: 7.');
  };
  await assert.rejects(openSession(7), (error) => {
    return error instanceof CommandError && error.code === 'DEBUGGER_REFUSED';
  });
  browser.answer = () => ({});
});

test('a refused command tells the reason that Chrome wraps in JSON', async () => {
  const session = await openSession(8);
  browser.answer = () => {
    throw new Error('{"code":-32000,"message":"No dialog is showing"}');
  };
  await assert.rejects(session.send('Page.handleJavaScriptDialog'), (error) => {
    return error instanceof ProtocolFailure && error.reason === 'No dialog is showing';
  });
  browser.answer = () => ({});
  session.release();
});

test('after a stop the next call attaches anew', async () => {
  (await openSession(9)).release();
  await detachAll();
  assert.equal(isAttached(9), false);
  const session = await openSession(9);
  await session.send('Page.navigate');
  assert.equal(asked('attach 9'), 2);
  // Detached behind our back, which Chrome does not tell.
  session.release();
  browser.attached.delete(9);
  const later = await openSession(9);
  await later.send('Page.navigate');
  assert.equal(asked('attach 9'), 3);
  later.release();
  await detachAll();
});
