import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUrlPattern } from '../../src/driver/network/url-pattern';

function check(pattern: string, url: string, fits: boolean): void {
  assert.equal(readUrlPattern('url', pattern).fits(url), fits, `${pattern} and ${url}`);
}

test('a part fits anywhere, and means itself', () => {
  check('/api/v1', 'https://a.test/api/v1?x', true);
  check('a.test', 'https://aXtest/', false);
  check('?x=1', 'https://a.test/?x=1', true);
});

test('a pattern with a star means the whole address', () => {
  check('https://a.test/*', 'https://a.test/b', true);
  check('https://a.test/*', 'http://a.test/b', false);
  check('*.png', 'https://a.test/b.png', true);
  check('*.png', 'https://a.test/b.png?x', false);
  check('/api/*/edit', 'https://a.test/api/7/edit', true);
  check('*/a?b', 'https://a.test/aXb', false);
});

test('between slashes is a regular expression, and a broken one is named', () => {
  check('/item\\/\\d+$/', 'https://a.test/item/42', true);
  check('/ITEM/i', 'https://a.test/item/42', true);
  check('/ITEM/', 'https://a.test/item/42', false);
  assert.throws(() => readUrlPattern('url', '/(/'), /url.*no regular expression/);
  assert.throws(() => readUrlPattern('url', ''), /url must be/);
});

test("the debugger's wildcards let nothing pass that fits", () => {
  assert.equal(readUrlPattern('url', 'a?b').wildcards, '*a\\?b*');
  assert.equal(readUrlPattern('url', 'https://a.test/*').wildcards, 'https://a.test/*');
  assert.equal(readUrlPattern('url', '/api/*').wildcards, '*/api/*');
  assert.equal(readUrlPattern('url', '/x/').wildcards, '*');
});
