import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/command';
import { LONGEST_TEXT, readRegex } from '../../src/driver/network/linear-regex';
import { readUrlPattern } from '../../src/driver/network/url-pattern';

/** The browser's own engine is the judge. */
function check(source: string, flags: string, text: string): void {
  const expected = new RegExp(source, flags).test(text);
  assert.equal(readRegex('url', source, flags)(text), expected, `/${source}/${flags} and ${text}`);
}

function refuse(source: string, flags: string, words: RegExp): void {
  assert.throws(
    () => readRegex('url', source, flags),
    (error) => error instanceof CommandError && words.test(error.message),
    source,
  );
}

test('expressions mean what they mean in the browser', () => {
  const texts = [
    '',
    'a',
    'ab',
    'aab',
    'B a',
    'a\nb',
    'ab12_',
    'é',
    '😀x',
    '{2}',
    'a.b/c-d',
    ']^\\',
  ];
  const sources = [
    '',
    'a|b|',
    '^(?:a|b)+$',
    '(?<first>a)b?',
    'a{2}',
    'a{1,2}b',
    'a{2,}',
    'x{|x}',
    'a??b',
    '.',
    '^.$',
    '[^a-c\\]]',
    '[\\]\\\\^]',
    '\\ba\\b',
    '\\Bb',
    '\\d+_$',
    '\\W\\S',
    '\\x61\\u0062',
    '\\.b\\/c',
    '(a*)*b',
    '((a|b)*|c)+$',
    '^b',
    'a$',
    '()$',
  ];
  for (const flags of ['', 'i', 'm', 's', 'ims']) {
    for (const source of sources) for (const text of texts) check(source, flags, text);
  }
  for (const source of [
    '^.x',
    '\\u{1F600}',
    '\\ud83d\\ude00x',
    '\\p{L}',
    '[\\p{Ll}😀]x',
    '^\\P{L}',
  ]) {
    for (const text of texts) check(source, 'u', text);
  }
});

// The browser's engine would need longer for each than anybody waits.
test('an expression that would hang the worker is answered', () => {
  const text = `${'a'.repeat(LONGEST_TEXT - 1)}!`;
  for (const source of [
    '(a+)+$',
    '(a|aa)+$',
    '(.*a){20}$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(a*)*b',
    '.*.*.*.*.*.*.*.*=.*',
    '(?:a?){200}b',
  ]) {
    assert.equal(readRegex('url', source, '')(text), false, source);
  }
  assert.equal(readRegex('url', '(.*a){20}', '')(text), true);
});

test('a pattern with many stars is answered too', () => {
  const { fits } = readUrlPattern('url', `${'*a'.repeat(900)}*b`);
  assert.equal(fits('a'.repeat(LONGEST_TEXT)), false);
  assert.equal(fits(`${'a'.repeat(900)}b`), true);
  assert.equal(fits(`${'a'.repeat(899)}b`), false);
  assert.equal(readUrlPattern('url', 'ab:*bc').fits('ab:c'), false, 'parts do not overlap');
});

test('what cannot be answered so is refused, and said to be', () => {
  refuse('(a)\\1', '', /refers back/);
  refuse('(?<x>a)\\k<x>', '', /refers back/);
  refuse('a(?=b)', '', /looks around/);
  refuse('(?<!b)a', '', /looks around/);
  refuse('a', 'v', /flags i, m, s and u/);
  refuse('(', '', /no regular expression/);
  refuse('a'.repeat(1_001), '', /1001 characters; at most 1000/);
  refuse('(a{100}){100}', '', /too large/);
  refuse('(?:){1000000000}', '', /too large/);
  refuse('((((a{9}){9}){9}){9}){9}', '', /too large/);
});

test('what is beyond the longest text is not looked at, and its end is not there', () => {
  const text = `${'a'.repeat(LONGEST_TEXT)}b`;
  assert.equal(readRegex('url', 'b', '')(text), false);
  assert.equal(readRegex('url', 'a$', '')(text), false);
  assert.equal(readRegex('url', '^a', '')(text), true);
});
