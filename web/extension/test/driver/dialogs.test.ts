import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registerDebugger } from '../../src/driver/tab/debugger';
import { dialogOf, registerDialogs, restoreDialogs } from '../../src/driver/tab/dialogs';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
const KEY = 'driver.dialogs';

test('a dialog that closed before the worker knew of it is not open', async () => {
  const asking = { type: 'confirm', message: 'Sure?' };
  await browser.session.set({
    [KEY]: [[1, asking], [2, asking], [3, asking], [4, asking], 'odd'],
  });
  registerDebugger();
  registerDialogs();
  // The events that woke the worker are heard before anything can be read.
  const restoring = restoreDialogs();
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
  const kept = JSON.stringify(browser.session.values.get(KEY));
  assert.doesNotMatch(kept, /\[1,|\[2,/, 'the next worker is not told of them either');
});
