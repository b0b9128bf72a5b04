import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { toBase64Url } from '@tabwire/shared';
import {
  codeKey,
  forgetKey,
  loadKey,
  normaliseCode,
  readKey,
  saveKey,
} from '../../src/background/pairing';
import { FakeChrome } from '../support/fake-chrome';

const CODE = '7K3M9QXT2B4DHW5N';
const KEY = Uint8Array.from({ length: 32 }, (_, place) => place * 8);

test('a code is read however people write it', () => {
  const forms = [
    '7K3M-9QXT-2B4D-HW5N',
    '7k3m9qxt2b4dhw5n',
    '  7K3M 9QXT\t2B4D\nHW5N ',
    // A word processor makes other dashes of them.
    '7K3M–9QXT—2B4D‑HW5N',
  ];
  for (const form of forms) assert.equal(normaliseCode(form), CODE, form);
});

test('letters that look like digits are those digits', () => {
  assert.equal(normaliseCode('IiLl-OoOo-1111-0000'), '1111000011110000');
});

test('what cannot be a code is refused', () => {
  const wrong = [
    '',
    '7K3M',
    `${CODE}A`,
    CODE.slice(1),
    'UUUU-UUUU-UUUU-UUUU',
    '7K3M-9QXT-2B4D-HW5!',
  ];
  for (const text of wrong) assert.equal(normaliseCode(text), undefined, text);
});

test('the key of a code is the digest that the hub makes too', async () => {
  const expected = createHash('sha256').update(`tabwire.v1 code\n${CODE}`).digest();
  assert.deepEqual(Buffer.from(await codeKey(CODE)), expected);
});

test('only 32 bytes are a key', () => {
  assert.deepEqual(readKey(toBase64Url(KEY)), KEY);
  for (const text of ['', 'AAAA', '%', `${toBase64Url(KEY)}AAAA`, 7, undefined, null]) {
    assert.equal(readKey(text), undefined, String(text));
  }
});

test('a key is kept until it is forgotten', async () => {
  const { local } = new FakeChrome().install();
  assert.equal(await loadKey(), undefined);
  await saveKey({ key: KEY, port: 8770 });
  assert.deepEqual(await loadKey(), { key: KEY, port: 8770 });
  await forgetKey();
  assert.equal(local.values.size, 0);
});

test('what is not a key counts as none', async () => {
  const { local } = new FakeChrome().install();
  for (const key of ['x', { key: 'AAAA', port: 8765 }, { key: toBase64Url(KEY), port: 0 }]) {
    local.values.set('key', key);
    assert.equal(await loadKey(), undefined);
  }
});
