/**
 * JSON text that a hub accepts, and the refusal of everything else.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkJson, PayloadError, stringify, toJson } from '../src/json';

test('values become JSON, and nothing becomes null', () => {
  const cases: [unknown, string][] = [
    [{ a: [1, 'x', null] }, '{"a":[1,"x",null]}'],
    [undefined, 'null'],
    [() => 1, 'null'],
    [Number.NaN, 'null'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ];
  for (const [value, expected] of cases) assert.equal(toJson(value, 1000), expected);
});

test('what is not JSON is refused with its reason', () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  for (const value of [circle, 1n]) {
    assert.throws(() => toJson(value, 1000), { name: 'PayloadError', code: 'not_json' });
  }
});

test('size is counted in bytes, as the hub counts it', () => {
  for (const text of ['plain', 'ümläut', '漢字', '😀 face', '"quoted" \\ and \n']) {
    const json = JSON.stringify(text);
    assert.equal(checkJson(json, 1000), Buffer.byteLength(json), text);
    assert.throws(() => checkJson(json, Buffer.byteLength(json) - 1), PayloadError);
  }
});

test('what is nested too deeply is refused, brackets in strings do not count', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  checkJson(deep(120), 1000);
  assert.throws(() => checkJson(deep(121), 1000), PayloadError);
  checkJson(JSON.stringify(`"${deep(200)}\\`), 1000);
  checkJson(`[${'[],'.repeat(200)}0]`, 10_000);
});

test('lone surrogates become the replacement character, all else stays', () => {
  const cases: [string, string][] = [
    ['cut \ud83d', 'cut \ufffd'],
    ['\udc00 cut', '\ufffd cut'],
    ['whole 😀', 'whole 😀'],
    ['a literal \\ud83d stays', 'a literal \\ud83d stays'],
    ['\\\ud83d', '\\\ufffd'],
  ];
  for (const [text, expected] of cases) assert.equal(JSON.parse(stringify(text)), expected);
});
