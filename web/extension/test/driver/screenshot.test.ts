import assert from 'node:assert/strict';
import { test } from 'node:test';
import { execute, registerDriver } from '../../src/execute';
import { fakeCall } from '../support/fake-call';
import { fakeServices } from '../support/fake-services';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
browser.tabs.set(1, { id: 1, url: 'https://a.test/', title: 'A', frozen: false });
registerDriver();
const bitmap = { width: 10, height: 10, close: () => {} };
Object.assign(globalThis, { createImageBitmap: async () => bitmap });

test('a capture whose frame does not come is helped by drawing anew, not taken twice', async () => {
  const size = { pageX: 0, pageY: 0, clientWidth: 10, clientHeight: 10 };
  let taken: ((answer: unknown) => void) | undefined;
  browser.answer = (_tabId, method) => {
    switch (method) {
      case 'Page.getLayoutMetrics':
        return { cssVisualViewport: size, cssContentSize: { width: 10, height: 10 } };
      case 'Page.captureScreenshot':
        return new Promise((resolve) => {
          taken = resolve;
        });
      case 'Page.startScreencast':
        taken?.({ data: 'QUJD' });
        return {};
      default:
        return {};
    }
  };
  const call = fakeCall('browser_screenshot', {}, { tabId: 1, deadlineMs: 20_000 });
  const picture = await execute(call, { signal: new AbortController().signal }, fakeServices());
  assert.equal(Object(picture).image.data, 'QUJD');
  const asked = browser.asked.filter((each) => /Screenshot|Screencast/.test(each));
  assert.deepEqual(asked.slice(-3), [
    '1 Page.captureScreenshot',
    '1 Page.stopScreencast',
    '1 Page.startScreencast',
  ]);
});
