import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CommandError } from '../../src/command';
import { registerTracing, startTrace, stopTrace } from '../../src/driver/reading/tracing';
import { detachAll, registerDebugger } from '../../src/driver/tab/debugger';
import { registerTabState, restoreTabs } from '../../src/driver/tab/tab-state';
import { fakePage } from '../support/fake-page';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
const services = {
  limitsSites: () => true,
  checkSite: (url: string) => {
    if (url.includes('denied.test')) {
      throw new CommandError('SITE_NOT_ALLOWED', 'the user does not allow denied.test');
    }
  },
};
const page = () => fakePage(1, services);

after(detachAll);

function finish(): void {
  browser.event('debugger.onEvent').raise({ tabId: 1 }, 'Tracing.tracingComplete', {});
}

test('the trace of a tab that was closed before the worker knew of it does not last', async () => {
  await browser.session.set({ 'driver.trace.9': { tabId: 9, startedAt: 1 } });
  registerDebugger();
  registerTracing();
  registerTabState();
  browser.event('tabs.onRemoved').raise(9);
  await restoreTabs();
  browser.tabs.set(1, { id: 1, url: 'https://a.test/', title: '', frozen: false });
  await assert.rejects(stopTrace(page()), /the trace is lost: its tab was closed/);
  await startTrace(page(), []);
  const ending = stopTrace(page());
  finish();
  assert.equal((await ending).events, 0);
});

test('a page with a frame that may not be told of is not traced', async () => {
  const top = { url: 'https://a.test/', frameId: 0, parentFrameId: -1, documentId: 'top' };
  const frame = { url: 'https://denied.test/', frameId: 5, parentFrameId: 0, documentId: 'd' };
  browser.frames.set(1, [top, frame]);
  await assert.rejects(startTrace(page(), []), /does not allow denied\.test/);
  browser.frames.set(1, [top]);
  await startTrace(page(), []);
  // It was there for a moment only.
  const commit = { tabId: 1, frameId: 5, url: 'https://denied.test/x?secret' };
  browser.event('webNavigation.onCommitted').raise(commit);
  const ending = stopTrace(page());
  finish();
  await assert.rejects(ending, /does not allow denied\.test/);
  await assert.rejects(stopTrace(page()), /the trace is lost/);
});
