import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registerDebugger } from '../../src/driver/tab/debugger';
import { dialogOf, registerDialogs } from '../../src/driver/tab/dialogs';
import { registerTabState, restoreTabs } from '../../src/driver/tab/tab-state';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();

test('a dialog that closed before the worker knew of it is not open', async () => {
  const asking = { type: 'confirm', message: 'Sure?' };
  for (const tabId of [1, 2, 3, 4]) {
    await browser.session.set({ [`driver.dialog.${tabId}`]: asking });
  }
  await browser.session.set({ 'driver.dialog.5': 'odd' });
  registerDebugger();
  registerDialogs();
  registerTabState();
  // The events that woke the worker are heard before anything can be read.
  const restoring = restoreTabs();
  const events = browser.event('debugger.onEvent');
  events.raise({ tabId: 1 }, 'Page.javascriptDialogClosed', { result: true });
  browser.event('tabs.onRemoved').raise(2);
  events.raise({ tabId: 3 }, 'Page.javascriptDialogClosed', { result: true });
  events.raise({ tabId: 3 }, 'Page.javascriptDialogOpening', { type: 'alert', message: 'Next' });
  await restoring;
  assert.equal(dialogOf(1), undefined);
  assert.equal(dialogOf(2), undefined);
  assert.equal(dialogOf(3)?.message, 'Next');
  assert.equal(dialogOf(4)?.message, 'Sure?');
  assert.equal(dialogOf(5), undefined);
  for (const tabId of [1, 2]) {
    const isKept = browser.session.values.has(`driver.dialog.${tabId}`);
    assert.equal(isKept, false, 'the next worker is not told of them either');
  }
});
