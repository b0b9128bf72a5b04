/**
 * Whether and when to come back.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_RECONNECT_LIMITS, mayReturn, ReconnectPolicy } from '../src/reconnect';

/** Fails again and again, each attempt taking `attemptMs`; returns waits with their times. */
function failing(random: () => number, attempts: number, attemptMs = 10) {
  const policy = new ReconnectPolicy(DEFAULT_RECONNECT_LIMITS, random);
  const waits: { at: number; waitMs: number }[] = [];
  let now = 0;
  for (let count = 0; count < attempts; count++) {
    policy.attempt(now);
    now += attemptMs;
    const waitMs = policy.lost(now, undefined);
    waits.push({ at: now, waitMs });
    now += waitMs;
  }
  return { policy, waits, now };
}

test('the first retry is at once, then every half second for five seconds', () => {
  const { waits } = failing(() => 1, 11);
  assert.equal(waits[0]?.waitMs, 0);
  for (const { waitMs } of waits.slice(1)) assert.equal(waitMs, 490);
});

test('attempts that take longer than half a second are repeated at once', () => {
  const { waits } = failing(() => 1, 5, 900);
  assert.deepEqual(
    waits.map(({ waitMs }) => waitMs),
    [0, 0, 0, 0, 0],
  );
});

test('after that the wait is random below a limit that doubles up to thirty seconds', () => {
  const late = (random: number) =>
    failing(() => random, 25)
      .waits.filter(({ at }) => at > 5010)
      .map(({ waitMs }) => waitMs);
  assert.deepEqual(late(1).slice(0, 7), [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  assert.deepEqual(late(0.5).slice(0, 3), [500, 1000, 2000]);
  assert.ok(late(0).every((waitMs) => waitMs === 0));
});

test('only a connection that held ends the trouble', () => {
  const { policy, now } = failing(() => 1, 20);
  policy.attempt(now);
  assert.ok(policy.lost(now + 4999, now) > 0, 'it was welcomed, but not for long');
  policy.attempt(now + 10_000);
  assert.equal(policy.lost(now + 20_000, now + 15_000), 0);
  policy.attempt(now + 20_000);
  assert.equal(policy.lost(now + 20_010, undefined), 490, 'and the beat begins anew');
});

test('close codes decide', () => {
  for (const code of [1001, 1005, 1006, 1012, 1013, 4000, 4400, 4409, 4499]) {
    assert.ok(mayReturn(code), `${code}`);
  }
  for (const code of [0, 1000, 1002, 1007, 1008, 1009, 1011, 3000, 3999, 4500, 4503, 4509, 4513]) {
    assert.ok(!mayReturn(code), `${code}`);
  }
});
