/**
 * The client against a real hub: through a proxy that cuts, and undisturbed.
 */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { type Client, type ClientOptions, connect } from '../src/index';
import { CuttingProxy } from './support/cutting-proxy';
import { seeded } from './support/random';
import { type FeedEntry, RealHub } from './support/real-hub';

const EVENTS = 1000;
const CUTS = 500;
const ALL = Array.from({ length: EVENTS }, (_, index) => index + 1);

const hub = await RealHub.start();

after(() => hub.stop());

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const limit = performance.now() + 30_000;
  while (!(await condition())) {
    assert.ok(performance.now() < limit, `${what}: not within 30 s`);
    await delay(2);
  }
}

async function connected(client: Client): Promise<string> {
  await until('connected', () => client.status.type === 'connected');
  return client.status.type === 'connected' ? client.status.name : assert.fail();
}

function open(port: number, over: Partial<ClientOptions>): Client {
  return connect({
    url: `ws://127.0.0.1:${port}`,
    kind: 'app',
    webSocket: WebSocket,
    // Cuts are so frequent that no connection would ever count as stable.
    reconnect: { stableMs: 0, beatMs: 10, beatForMs: 600_000 },
    ...over,
  });
}

/** Collects what the hub received of one client's events, in the hub's order. */
function collector(session: string) {
  const numbers: unknown[] = [];
  const others: FeedEntry[] = [];
  let since = 0;
  const read = async () => {
    const { entries, next } = await hub.feed(session, since);
    since = next;
    for (const entry of entries) {
      if (entry.kind === 'event' && entry.name === 'torture') numbers.push(entry.body);
      else others.push(entry);
    }
  };
  return { numbers, others, read };
}

test('a thousand events each way over five hundred cuts arrive once and in order', async () => {
  const random = seeded(Number(process.env.TORTURE_SEED ?? 1));
  const proxy = await CuttingProxy.start(hub.port);
  const delivered: unknown[] = [];
  const resyncs: string[] = [];
  const client = open(proxy.port, {
    token: hub.token,
    name: 'torture',
    onEvent: ({ name, data }) => {
      if (name === 'torture') delivered.push(data);
    },
    onResync: (reason) => resyncs.push(reason),
  });
  const session = await connected(client);
  const { numbers, others, read } = collector(session);
  let next = 1;
  let rounds = 0;
  while (proxy.cuts < CUTS || next <= EVENTS) {
    for (let count = 0; count < EVENTS / CUTS && next <= EVENTS; count++, next++) {
      client.sendEvent('torture', next);
      await hub.post('/api/events', { session, name: 'torture', data: next });
    }
    // Some cuts hit the handshake, most a connection that stands.
    if (random() < 0.8) await connected(client);
    await delay(random() * 6);
    proxy.cut();
    if (++rounds % 25 === 0) await read();
  }
  await until('all delivered', () => delivered.length >= EVENTS);
  await until('all received', async () => {
    await read();
    return numbers.length >= EVENTS;
  });
  client.close();
  proxy.close();
  assert.deepEqual(delivered, ALL);
  assert.deepEqual(numbers, ALL);
  assert.deepEqual(resyncs, []);
  assert.deepEqual(
    others.filter(({ name }) => name === 'gap'),
    [],
  );
  assert.ok(proxy.cuts >= CUTS);
});

test('tools are called, state is asked for and pushed', async () => {
  let color = 'red';
  const client = open(hub.port, {
    token: hub.token,
    name: 'viewer',
    onCall: (call) => {
      assert.ok(call.type === 'callTool');
      if (call.toolName !== 'paint')
        throw Object.assign(new Error('no brush'), { code: 'NO_BRUSH' });
      color = 'blue';
      return { painted: call.args };
    },
    onState: () => ({ color }),
  });
  client.setTools([{ name: 'paint', description: 'Paints.' }, { name: 'fail' }]);
  client.pushState({ color });
  const session = await connected(client);
  const path = `/api/sessions/${session}`;
  await until('tools are known', async () => {
    const { tools } = await hub.get(path);
    return Array.isArray(tools) && tools.length === 2;
  });
  const answer = await hub.post('/api/call', { tool: 'paint', args: { with: 'oil' }, session });
  assert.deepEqual(answer.result, { painted: { with: 'oil' } });
  await assert.rejects(hub.post('/api/call', { tool: 'fail', args: {}, session }), /NO_BRUSH/);
  const fresh = await hub.get(`${path}/state?forceRefresh=true`);
  assert.deepEqual([fresh.value, fresh.source], [{ color: 'blue' }, 'live']);
  client.pushState({ color: 'green', size: 'large enough that the next one is a patch' });
  await delay(60);
  client.pushState({ color: 'white', size: 'large enough that the next one is a patch' });
  await until('the patched state is known', async () => {
    const { value } = await hub.get(`${path}/state`);
    return JSON.stringify(value).includes('white');
  });
  client.close();
});

test('much that was missed travels compressed, both ways', async () => {
  const binary = { sent: 0, received: 0 };
  let dropped = 0;
  class Watched extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      this.on('message', (_, isBinary) => {
        if (isBinary) binary.received++;
      });
    }

    override send(data: string | Uint8Array): void {
      if (typeof data !== 'string') binary.sent++;
      // The hub notices the gap and asks.
      if (String(data).includes('"count":0') && dropped++ === 0) return;
      super.send(data);
    }
  }
  const proxy = await CuttingProxy.start(hub.port);
  after(() => proxy.close());
  let mayReturn = Promise.resolve();
  const seen: unknown[] = [];
  const client = open(proxy.port, {
    token: hub.token,
    name: 'compressed',
    webSocket: Watched,
    url: () => mayReturn.then(() => `ws://127.0.0.1:${proxy.port}`),
    onEvent: ({ name, data }) => {
      if (name === 'missed') seen.push(data);
    },
  });
  after(() => client.close());
  const session = await connected(client);
  const text = 'a line of the console that says something about the shop. '.repeat(4);
  const all = Array.from({ length: 150 }, (_, count) => ({ count, text }));
  let letReturn = () => {};
  mayReturn = new Promise((resolve) => {
    letReturn = resolve;
  });
  proxy.cut();
  await until('away', () => client.status.type !== 'connected');
  for (const data of all) await hub.post('/api/events', { session, name: 'missed', data });
  letReturn();
  await until('all delivered', () => seen.length >= all.length);
  assert.deepEqual(seen, all);
  for (const data of all) client.sendEvent('missed', data);
  const received: unknown[] = [];
  let since = 0;
  await until('all received', async () => {
    const { entries, next } = await hub.feed(session, since);
    since = next;
    for (const { kind, name, body } of entries) {
      if (kind === 'event' && name === 'missed') received.push(body);
    }
    return received.length >= all.length;
  });
  assert.deepEqual(received, all);
  assert.ok(binary.received >= 1 && binary.sent >= 1, JSON.stringify(binary));
});

test('a peer that comes back with its memory has the same session and misses nothing', async () => {
  let kept: string | undefined;
  const memory = {
    load: () => Promise.resolve(kept === undefined ? undefined : JSON.parse(kept)),
    save: (snapshot: object) => {
      kept = JSON.stringify(snapshot);
    },
  };
  const first = open(hub.port, { token: hub.token, name: 'reloaded', memory });
  const session = await connected(first);
  await until('remembered', () => kept?.includes('resumeToken') === true);
  first.close();
  await hub.post('/api/events', { session, name: 'missed', data: 1 });
  const seen: string[] = [];
  const second = open(hub.port, {
    token: hub.token,
    name: 'reloaded',
    memory,
    onEvent: ({ name }) => seen.push(name),
  });
  assert.equal(await connected(second), session);
  await until('the missed event came', () => seen.includes('missed'));
  second.close();
});
