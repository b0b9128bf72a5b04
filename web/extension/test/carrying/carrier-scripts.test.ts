/**
 * In which pages the script stands that pages are carried by: those of allowed origins.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mock, test } from 'node:test';
import { CarrierScripts } from '../../src/background/carrier-scripts';
import { isRecord } from '../../src/check';
import { FakeChrome } from '../support/fake-chrome';

const APP = 'https://app.example';
const PATTERN = 'https://app.example/*';

function patterns({ scripts }: FakeChrome): string[] {
  return [...scripts.values()].flatMap(({ matches }) => matches).sort();
}

test('no page has a script of ours by itself', () => {
  // Tests run from `web/`.
  const manifest: unknown = JSON.parse(readFileSync('extension/manifest.json', 'utf8'));
  assert.ok(isRecord(manifest));
  assert.equal(manifest.content_scripts, undefined);
});

test('the script is registered for the hosts of allowed origins, and for no others', async () => {
  const browser = new FakeChrome().install();
  browser.scripts.set('another', { id: 'another', matches: ['https://x.example/*'] });
  const scripts = new CarrierScripts();
  await scripts.keep([APP, 'https://app.example:8443', 'http://127.0.0.1:5173']);
  const own = ['http://127.0.0.1/*', PATTERN];
  assert.deepEqual(patterns(browser), [...own, 'https://x.example/*']);
  await scripts.keep(['http://127.0.0.1:5173']);
  assert.deepEqual(patterns(browser), ['http://127.0.0.1/*', 'https://x.example/*']);
  await scripts.keep([]);
  assert.deepEqual(patterns(browser), ['https://x.example/*'], 'what is not ours stays');
});

test('what an earlier worker has registered is not registered twice, and what was lost is again', async () => {
  const browser = new FakeChrome().install();
  await new CarrierScripts().keep([APP]);
  await new CarrierScripts().keep([APP]);
  assert.deepEqual(patterns(browser), [PATTERN]);
  // An update of the extension has the browser forget all of it.
  browser.scripts.clear();
  await new CarrierScripts().keep([APP]);
  assert.deepEqual(patterns(browser), [PATTERN]);
});

test('pages of an origin that are open when it is allowed have the script at once', async () => {
  const browser = new FakeChrome().install();
  const app = browser.open({ url: `${APP}/page?x` });
  for (const url of [
    'https://app.example:8443/',
    'http://app.example/',
    'https://other.example/',
  ]) {
    browser.open({ url });
  }
  browser.open({ url: `${APP}/asleep`, discarded: true });
  const scripts = new CarrierScripts();
  await scripts.keep([]);
  assert.deepEqual(browser.injected, []);
  await scripts.keep([APP]);
  assert.deepEqual(browser.injected, [`carrier.js ${app}`]);
  await scripts.keep([APP]);
  assert.equal(browser.injected.length, 1, 'once');
  await scripts.keep([]);
  await scripts.keep([APP]);
  assert.equal(browser.injected.length, 2, 'and again when it is allowed again');
});

test('a host that the browser takes in no pattern does not cost the others theirs', async () => {
  const warn = mock.method(console, 'warn', () => {});
  const browser = new FakeChrome().install();
  const page = browser.open({ url: 'http://[::1]:3000/' });
  await new CarrierScripts().keep(['http://[::1]:3000', APP]);
  assert.deepEqual(patterns(browser), [PATTERN]);
  assert.deepEqual(browser.injected, [`carrier.js ${page}`]);
  assert.equal(warn.mock.callCount(), 1);
  warn.mock.restore();
});
