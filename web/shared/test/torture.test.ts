/**
 * Both directions over hundreds of random cuts: nothing lost, nothing twice, no call run twice.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClientOptions, connect } from '../src/index';
import { FakeClock } from './support/fake-clock';
import { FakeHub, type Weather, Wire } from './support/fake-hub';
import { FakeSocket } from './support/fake-socket';
import { seeded } from './support/random';

const EVENTS = 1000;
const CUTS = 500;

/** A client and a hub with bad weather between them. */
function world(weather: Weather, over: Partial<ClientOptions> = {}) {
  const clock = new FakeClock();
  const hub = new FakeHub();
  const delivered: number[] = [];
  let wire: Wire | undefined;
  const client = connect({
    url: 'ws://hub',
    kind: 'app',
    clock,
    random: weather.random,
    webSocket: class extends FakeSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols);
        wire = new Wire(this, hub, clock, weather);
      }
    },
    onEvent: ({ sequence, data }) => {
      assert.equal(data, sequence);
      delivered.push(sequence);
    },
    ...over,
  });
  const isConnected = () => client.status.type === 'connected';
  const connected = async () => {
    while (!isConnected()) await clock.advance(50);
  };
  const cut = () => wire?.cut();
  return { clock, hub, client, delivered, connected, cut };
}

/** Sends all events both ways at random moments, with cuts at others. */
async function torture(setup: ReturnType<typeof world>, random: () => number): Promise<void> {
  const { clock, hub, client, connected, cut } = setup;
  for (let round = 0; round < CUTS; round++) {
    for (let count = 0; count < EVENTS / CUTS; count++) {
      hub.publish();
      client.sendEvent('n');
      await clock.advance(random() * 10);
    }
    if (random() < 0.2) hub.ack();
    // Some cuts hit the handshake, some the replay, most a connection that stands.
    if (random() < 0.8) await connected();
    await clock.advance(random() * 40);
    cut();
  }
  // Once more, so that what was lost at the very end is noticed.
  await connected();
  await clock.advance(120_000);
  cut();
  await clock.advance(100);
  await connected();
  await clock.advance(120_000);
  client.close();
}

const ALL = Array.from({ length: EVENTS }, (_, index) => index + 1);

for (const seed of [1, 2, 3]) {
  test(`a thousand events each way over five hundred cuts arrive once and in order, seed ${seed}`, async () => {
    const random = seeded(seed);
    const setup = world({ random, slowestMs: 20, lossy: 0 });
    await torture(setup, random);
    assert.deepEqual(setup.delivered, ALL);
    assert.deepEqual(setup.hub.accepted, ALL);
    assert.deepEqual(setup.hub.gaps, []);
  });

  test(`the same when single messages vanish too, seed ${seed}`, async () => {
    const random = seeded(seed);
    const setup = world({ random, slowestMs: 20, lossy: 0.05 });
    await torture(setup, random);
    assert.deepEqual(setup.delivered, ALL);
    assert.deepEqual(setup.hub.accepted, ALL);
  });

  test(`a log that is too small loses honestly: every hole is announced, seed ${seed}`, async () => {
    const random = seeded(seed);
    const setup = world({ random, slowestMs: 20, lossy: 0 }, { log: { maxMessages: 5 } });
    await torture(setup, random);
    const { accepted, gaps } = setup.hub;
    assert.ok(gaps.length > 0, 'the test is worth something');
    for (const [index, sequence] of accepted.entries()) {
      const before = accepted[index - 1] ?? 0;
      assert.ok(
        sequence === before + 1 || gaps.includes(sequence - 1),
        `${before} then ${sequence}`,
      );
    }
    assert.equal(Math.max(accepted.at(-1) ?? 0, ...gaps), EVENTS);
    assert.deepEqual(setup.delivered, ALL);
  });
}

test('calls that are sent again and again over cuts run once each and have one end', async () => {
  const random = seeded(4);
  const runs = new Map<string, number>();
  const setup = world(
    { random, slowestMs: 20, lossy: 0 },
    {
      onCall: async ({ callId }) => {
        const count = (runs.get(callId) ?? 0) + 1;
        runs.set(callId, count);
        await new Promise<void>((resolve) => setup.clock.after(random() * 30, resolve));
        return `${callId} run ${count}`;
      },
    },
  );
  const { clock, hub, connected, cut } = setup;
  const ids = Array.from({ length: 200 }, (_, index) => `c${index}`);
  for (const callId of ids) {
    for (let attempt = 0; attempt < 3; attempt++) {
      await connected();
      const call = { callId, target: 'app', toolName: 't', args: {}, deadlineMs: 600_000 } as const;
      hub.link?.toBrowser({ type: 'callTool', ...call });
      hub.link?.toBrowser({ type: 'callQuery', callId });
      await clock.advance(random() * 60);
      if (random() < 0.5) cut();
    }
  }
  await clock.advance(100);
  await connected();
  for (const callId of ids) hub.link?.toBrowser({ type: 'callQuery', callId });
  await clock.advance(1000);
  setup.client.close();
  assert.ok([...runs.values()].every((count) => count === 1));
  assert.deepEqual(
    [...hub.ends.keys()].sort(),
    [...runs.keys()].sort(),
    'each run is known to the hub',
  );
});
