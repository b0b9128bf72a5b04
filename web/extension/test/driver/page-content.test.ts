import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/command';
import type { FrameContent } from '../../src/content/api';
import { compose, parseCursor, partOf } from '../../src/driver/reading/page-content';

const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

function frame(path: number[], pieces: string[], frames: number[] = []): FrameContent {
  return { url: `https://a.test/${path.join('/')}`, path, pieces, frames, leftOut: path.length };
}

test('what frames say stands where they are', () => {
  const top = frame([], ['before', 'between', ''], [0, 1]);
  const answers = [
    top,
    frame([0], ['left']),
    frame([1], ['right', 'end'], [0]),
    frame([1, 0], ['deep']),
  ].map((value, frameId) => ({ frameId, documentId: String(frameId), value }));
  const { text, url, leftOut } = compose(top, answers);
  assert.equal(text, 'before\nleft\nbetween\nright\ndeep\nend');
  assert.equal(url, 'https://a.test/');
  assert.equal(leftOut, 4);
});

test('a frame that may not be read is left out', () => {
  const top = frame([], ['before', 'after'], [0]);
  assert.equal(compose(top, []).text, 'before\nafter');
});

test('parts follow each other without a gap, and never cut a character', () => {
  const text = 'ab😀cd😀'.repeat(50);
  for (const length of [1, 2, 3, 7, 1_000]) {
    let read = '';
    let part = partOf(text, undefined, length);
    for (; ; part = partOf(text, parseCursor(part.next), length)) {
      assert.ok(!HALF.test(part.content), JSON.stringify(part.content));
      assert.ok(part.content.length <= length + 1);
      assert.equal(part.changed, undefined);
      read += part.content;
      if (part.next === undefined) break;
    }
    assert.equal(read, text);
  }
});

test('a page that has changed since is noticed', () => {
  const { next = '' } = partOf('one two three', undefined, 4);
  assert.equal(partOf('one two three', parseCursor(next), 4).content, 'two ');
  const changed = partOf('one too three', parseCursor(next), 4);
  assert.deepEqual([changed.content, changed.changed], ['too ', true]);
  const shorter = partOf('one', parseCursor(next), 4);
  assert.deepEqual([shorter.content, shorter.changed, shorter.next], ['', true, undefined]);
});

test('what is no cursor is refused', () => {
  for (const text of ['', 'later', '12', '-1-a', '1-A', '1-a-b']) {
    assert.throws(
      () => parseCursor(text),
      (error) => error instanceof CommandError && /cursor/.test(error.message),
      text,
    );
  }
});
