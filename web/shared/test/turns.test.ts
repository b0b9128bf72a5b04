/**
 * Steps in order, fast and slow ones mixed.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from '../src/turns';
import { settled } from './support/fake-clock';

/** A step that ends when the test says so. */
function slow(did: string[], name: string) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const step = async () => {
    did.push(`${name} begins`);
    await ended;
    did.push(`${name} ends`);
  };
  return { step, end };
}

test('steps run at once as long as none is slow, also from within each other', () => {
  const turns = new Turns();
  const did: number[] = [];
  turns.take(() => {
    did.push(1);
    turns.take(() => void did.push(2));
    did.push(3);
  });
  assert.deepEqual(did, [1, 2, 3]);
});

test('what comes after a slow step waits for it, and for the next slow one', async () => {
  const turns = new Turns();
  const did: string[] = [];
  const [first, second] = [slow(did, 'first'), slow(did, 'second')];
  turns.take(first.step);
  turns.take(() => void did.push('a'));
  turns.take(second.step);
  turns.take(() => void did.push('b'));
  second.end();
  await settled();
  assert.deepEqual(did, ['first begins']);
  assert.ok(turns.isBusy);
  first.end();
  await settled();
  turns.take(() => void did.push('c'));
  const expected = ['first begins', 'first ends', 'a', 'second begins', 'second ends', 'b', 'c'];
  assert.deepEqual(did, expected);
  assert.ok(!turns.isBusy);
});
