import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHeaders, maskPasswords, showHeaders } from '../../src/driver/network/headers';

test('what logs somebody in is masked, however it is written', () => {
  const shown = showHeaders({
    AUTHORIZATION: 'Bearer x',
    cookie: 'a=b',
    'Set-Cookie': 'a=b',
    'Proxy-Authorization': 'x',
    'x-api-key': 'x',
    Accept: '*/*',
  });
  assert.deepEqual(Object.values(shown), ['•••', '•••', '•••', '•••', '•••', '*/*']);
});

test('long and many headers are cut, and it is said', () => {
  assert.match(showHeaders({ a: 'x'.repeat(3_000) }).a ?? '', /1000 characters are left out/);
  const many = Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`h${n}`, 'x']));
  assert.equal(showHeaders(many)['…'], '20 more are left out');
});

test('headers that the browser writes itself are refused by name', () => {
  for (const name of ['Host', 'content-length', 'Connection', 'Sec-Fetch-Mode', 'Cookie']) {
    assert.throws(() => checkHeaders({ [name]: 'x' }, true), new RegExp(name));
  }
  checkHeaders({ 'Content-Length': '1', 'Set-Cookie': 'a=b' }, false);
  checkHeaders({ 'X-Mine': 'x', Authorization: 'x' }, true);
  assert.throws(() => checkHeaders({ 'a b': 'x' }, false), /a b/);
  assert.throws(() => checkHeaders({ a: 'b\r\nc: d' }, false), /one line/);
});

test('passwords of what was sent are masked', () => {
  assert.equal(maskPasswords('user=me&password=x&y=1'), 'user=me&password=•••&y=1');
  assert.equal(
    maskPasswords('{"userPassword": "a\\"b", "z": 1}'),
    '{"userPassword": "•••", "z": 1}',
  );
  const part = 'Content-Disposition: form-data; name="pwd"\r\n\r\nsecret\r\n--x';
  assert.equal(maskPasswords(part), part.replace('secret', '•••'));
  assert.equal(maskPasswords('plain text'), 'plain text');
});
