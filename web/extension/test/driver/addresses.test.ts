import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/command';
import { refusal, whyRestricted } from '../../src/driver/common/restricted-pages';
import { readAddress } from '../../src/driver/navigation/journeys';

test('addresses may be written as people write them', () => {
  for (const [text, url] of [
    ['https://a.test/x', 'https://a.test/x'],
    [' example.com ', 'https://example.com/'],
    ['example.com:8080/x', 'https://example.com:8080/x'],
    ['localhost:3000', 'http://localhost:3000/'],
    ['http://127.1:3000\\a\\..\\b', 'http://127.0.0.1:3000/b'],
    ['127.0.0.1:1/a?b#c', 'http://127.0.0.1:1/a?b#c'],
    ['about:blank', 'about:blank'],
    ['file:///tmp/a.html', 'file:///tmp/a.html'],
  ] as const) {
    assert.equal(readAddress(text), url);
  }
  for (const text of ['', 'http://', 'javascript:1', ' JavaScript:alert(1)']) {
    assert.throws(() => readAddress(text), CommandError, text);
  }
});

test('only pages of the web and the empty one can be driven', () => {
  for (const url of [
    'file:///tmp/a.html',
    'FILE:///tmp/a.html',
    'data:text/html,x',
    'blob:null/4f6e',
    'blob:file:///4f6e',
    'filesystem:https://a.test/temporary/x',
    'ftp://a.test/',
    'content://a',
    'mailto:a@b.test',
    'about:settings',
    'about:blankish',
    'unknown:x',
    'chrome://settings',
    'CHROME://version',
    'view-source:https://a.test',
    'devtools://x',
    'chrome-extension://abc/popup.html',
    'https://chromewebstore.google.com/detail/x',
  ]) {
    assert.ok(whyRestricted(url), url);
  }
  for (const url of [
    'https://a.test',
    'http://chrome.test/',
    'about:blank',
    'about:blank#x',
    'blob:https://a.test/4f6e',
    '',
  ]) {
    assert.equal(whyRestricted(url), undefined, url);
  }
});

test("Chrome's refusals become errors that say what to do", () => {
  const check = (message: string, code: string | undefined) =>
    assert.equal(refusal(message)?.code, code, message);
  check('Cannot access a chrome:// URL', 'RESTRICTED_PAGE');
  check('The extensions gallery cannot be scripted.', 'RESTRICTED_PAGE');
  check(
    'Cannot access contents of url "about:blank". Extension manifest must request permission to access this host.',
    'RESTRICTED_PAGE',
  );
  check('No tab with id: 5', 'TAB_NOT_FOUND');
  check('Frame with ID 0 was removed.', 'TAB_NOT_FOUND');
  check('Frame with ID 0 is showing error page', 'NAVIGATION_FAILED');
  check('Something else', undefined);
});
