/** Bytes that become files in the page's frame. */

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { FileParts } from '../../src/content/file-parts';

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');
const facts = (name: string, size: number) => ({ name, mimeType: 'text/plain', size });

test('parts become files, each with its name, type and bytes', async () => {
  const parts = new FileParts();
  parts.keep('k', 0, base64('one '));
  parts.keep('k', 2, base64('\xff\0'));
  parts.keep('k', 0, base64('two'));
  const files = parts.take('k', [facts('a.txt', 7), facts('empty', 0), facts('b.bin', 2)]);
  const told = files.map(({ name, type, size }) => [name, type, size]);
  assert.deepEqual(told, [
    ['a.txt', 'text/plain', 7],
    ['empty', 'text/plain', 0],
    ['b.bin', 'text/plain', 2],
  ]);
  assert.equal(await files[0]?.text(), 'one two');
  const bytes = new Uint8Array((await files[2]?.arrayBuffer()) ?? []);
  assert.deepEqual([...bytes], [255, 0]);
  assert.throws(() => parts.take('k', [facts('a.txt', 7)]), /0 of 7 bytes/, 'they are gone');
});

test('a file that is not whole is none', () => {
  const parts = new FileParts();
  parts.keep('k', 0, base64('half'));
  assert.throws(() => parts.take('k', [facts('a.txt', 8)]), /a\.txt has 4 of 8 bytes/);
});

test('only the newest set is kept', () => {
  const parts = new FileParts();
  parts.keep('old', 0, base64('old'));
  parts.keep('new', 1, base64('new'));
  assert.throws(() => parts.take('old', [facts('a.txt', 3)]), /0 of 3/);
  parts.keep('old', 0, base64('old'));
  parts.keep('new', 1, base64('new'));
  assert.throws(() => parts.take('new', [facts('a.txt', 3), facts('b.txt', 3)]), /0 of 3/);
});

test('what nobody takes is dropped after a minute', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const parts = new FileParts();
  parts.keep('k', 0, base64('one'));
  mock.timers.tick(59_000);
  parts.keep('k', 0, base64('two'));
  mock.timers.tick(59_000);
  parts.keep('k', 0, base64('six'));
  assert.equal(parts.take('k', [facts('a.txt', 9)])[0]?.size, 9);
  parts.keep('k', 0, base64('one'));
  mock.timers.tick(60_000);
  assert.throws(() => parts.take('k', [facts('a.txt', 3)]), /0 of 3/);
  mock.timers.reset();
});
