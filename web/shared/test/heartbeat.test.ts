/**
 * Life signs, with silence, answers, and machines that sleep.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeat } from '../src/heartbeat';
import { FakeClock } from './support/fake-clock';

function started(askAfterMs = 20_000) {
  const clock = new FakeClock();
  const begin = clock.now();
  const log: string[] = [];
  const note = (what: string) => log.push(`${what}@${clock.now() - begin}`);
  const heartbeat = new Heartbeat(clock, askAfterMs, {
    ping: () => note('ping'),
    dead: () => note('dead'),
  });
  return { clock, heartbeat, log };
}

test('silence is asked about after twenty seconds and death told ten later', async () => {
  const { clock, log } = started();
  await clock.advance(60_000);
  assert.deepEqual(log, ['ping@20000', 'dead@30000']);
});

test('any message puts the question off', async () => {
  const { clock, heartbeat, log } = started();
  for (let count = 0; count < 10; count++) {
    await clock.advance(15_000);
    heartbeat.heard();
  }
  assert.deepEqual(log, []);
  await clock.advance(20_000);
  assert.deepEqual(log, ['ping@170000']);
});

test('an answer to the ping begins a new silence', async () => {
  const { clock, heartbeat, log } = started();
  await clock.advance(25_000);
  heartbeat.heard();
  await clock.advance(19_000);
  assert.deepEqual(log, ['ping@20000']);
  await clock.advance(30_000);
  assert.deepEqual(log, ['ping@20000', 'ping@45000', 'dead@55000']);
});

test('after a sleep of this machine the hub gets another chance, and one only', async () => {
  const { clock, log } = started();
  await clock.advance(20_000);
  await clock.sleep(3_600_000);
  assert.deepEqual(log, ['ping@20000', 'ping@3620000']);
  await clock.sleep(3_600_000);
  assert.deepEqual(log.at(-1), 'dead@7220000');
});

test('after a sleep that began before the question, the hub is asked and not declared dead', async () => {
  const { clock, heartbeat, log } = started();
  await clock.sleep(3_600_000);
  assert.deepEqual(log, ['ping@3600000']);
  await clock.advance(50);
  heartbeat.heard();
  await clock.advance(15_000);
  assert.deepEqual(log, ['ping@3600000']);
});

test('a hub that asks for no pause is not pinged without pause', async () => {
  const { clock, heartbeat, log } = started(0);
  for (let count = 0; count < 10; count++) {
    await clock.advance(100);
    heartbeat.heard();
  }
  assert.ok(log.length <= 10, `${log}`);
});

test('nothing happens after the stop', async () => {
  const { clock, heartbeat, log } = started();
  heartbeat.stop();
  await clock.advance(60_000);
  assert.deepEqual(log, []);
});
