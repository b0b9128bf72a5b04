/**
 * Text in names: white space, icons, limits.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asName, cut, NAME_LIMIT, tidy } from '../../src/content/text';

test('white space runs become one space, and ends stay', () => {
  assert.equal(tidy(' a\n\t b\u00a0c '), ' a b c ');
});

test('icon glyphs are not part of a name', () => {
  assert.equal(asName('\uf015 Home'), 'Home');
  assert.equal(asName('\ue001'), '');
});

test('a name is cut at its limit and shows it', () => {
  const name = asName('x'.repeat(10_000));
  assert.equal(name.length, NAME_LIMIT);
  assert.ok(name.endsWith('…'));
  assert.equal(asName('x'.repeat(NAME_LIMIT)), 'x'.repeat(NAME_LIMIT));
});

test('a cut never leaves half a character', () => {
  for (let limit = 2; limit < 12; limit++) {
    const shortened = cut('😀'.repeat(10), limit);
    assert.ok(shortened.length <= limit);
    assert.equal(shortened, [...shortened].join(''));
    assert.ok(!/[\ud800-\udbff](?![\udc00-\udfff])/.test(shortened), shortened);
  }
});

test('a megabyte of spaces is no work', () => {
  assert.equal(asName(`${' '.repeat(1_000_000)}x`), '');
});
