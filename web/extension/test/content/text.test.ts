/**
 * Text in names: white space, icons, limits.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asName,
  asShown,
  cut,
  linkTarget,
  NAME_LIMIT,
  spellings,
  tidy,
} from '../../src/content/text';

test('white space runs become one space, and ends stay', () => {
  assert.equal(tidy(' a\n\t b\u00a0c '), ' a b c ');
});

test('icon glyphs are not part of a name', () => {
  assert.equal(asName('\uf015 Home'), 'Home');
  assert.equal(asName('\ue001'), '');
});

test('a text that was copied from a line means what the page says', () => {
  assert.equal(asShown(' Daten\u00adschutz\u200b\u{e0041} '), 'Datenschutz');
  assert.deepEqual(spellings('Buy'), ['Buy']);
  assert.deepEqual(spellings('a \\[b\\] \\\\'), ['a \\[b\\] \\\\', 'a [b] \\']);
  assert.deepEqual(spellings('\\d'), ['\\d']);
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

test('a link is told whole, without who is logged in by it', () => {
  const base = 'https://a.test/dir/page';
  for (const [written, told] of [
    ['/b?c=d#e', 'https://a.test/b?c=d#e'],
    ['other', 'https://a.test/dir/other'],
    ['https://user:word@b.test/x?token=1', 'https://b.test/x?token=1'],
    ['mailto:a@b.test', 'mailto:a@b.test'],
    ['http://[', 'http://['],
  ] as const) {
    assert.equal(linkTarget(written, base), told);
  }
  assert.equal(linkTarget(`/${'x'.repeat(400)}`, base).length, 300);
});
