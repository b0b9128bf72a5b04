/**
 * When acks are sent.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Acks } from '../src/acks';
import { FakeClock } from './support/fake-clock';

function counted() {
  const clock = new FakeClock();
  const at: number[] = [];
  const begin = clock.now();
  const acks = new Acks(clock, () => at.push(clock.now() - begin));
  return { clock, acks, at };
}

test('one message is acked within a second, and only once', async () => {
  const { clock, acks, at } = counted();
  acks.note();
  await clock.advance(10_000);
  assert.equal(at.length, 1);
  assert.ok((at[0] ?? 0) <= 1000);
});

test('messages that keep coming do not put the ack off', async () => {
  const { clock, acks, at } = counted();
  for (let count = 0; count < 40; count++) {
    acks.note();
    await clock.advance(50);
  }
  assert.ok(at.length >= 2 && at.length <= 4, `${at}`);
});

test('fifty messages are acked at once', async () => {
  const { clock, acks, at } = counted();
  for (let count = 0; count < 100; count++) acks.note();
  assert.deepEqual(at, [0, 0]);
  await clock.advance(2000);
  assert.deepEqual(at, [0, 0], 'nothing is left to ack');
});

test('what is due when the connection ends is forgotten', async () => {
  const { clock, acks, at } = counted();
  acks.note();
  acks.stop();
  await clock.advance(2000);
  assert.deepEqual(at, []);
  assert.equal(clock.waiting, 0);
});
