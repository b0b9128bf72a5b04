/**
 * Pairing with a real hub: by code, by the native messaging host, and with a hub that is none.
 */

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { type Client, type ClientOptions, type Credentials, connect } from '../src/index';
import { CuttingProxy } from './support/cutting-proxy';
import { RealHub } from './support/real-hub';

const EXTENSION = 'chrome-extension://flijodnkmdflbekoipgfjippcnecmdfi';

const hub = await RealHub.start();

after(() => hub.stop());

/** A socket as the browser opens it for our extension. */
class ExtensionSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols, { origin: EXTENSION });
  }
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const limit = performance.now() + 30_000;
  while (!condition()) {
    assert.ok(performance.now() < limit, `${what}: not within 30 s`);
    await delay(5);
  }
}

function open(instanceId: string, over: Partial<ClientOptions>): Client {
  const client = connect({
    url: `ws://127.0.0.1:${hub.port}`,
    kind: 'browser',
    name: instanceId,
    instanceId,
    webSocket: ExtensionSocket,
    ...over,
  });
  after(() => client.close());
  return client;
}

function reasonOf({ status }: Client): string {
  return status.type === 'waiting' ? status.reason : status.type;
}

function codeKey(): Uint8Array {
  const shown = JSON.parse(hub.run(['pair', '--no-wait', '--json']).toString());
  const code = String(shown.code).replaceAll('-', '');
  return createHash('sha256').update(`tabwire.v1 code\n${code}`).digest();
}

test('a browser pairs by code, keeps the key and comes back with it', async () => {
  let credentials: Credentials = { key: codeKey(), pairing: true };
  const client = open('by-code', {
    credentials: async () => credentials,
    onPaired: (key) => {
      credentials = { key };
    },
  });
  await until('connected', () => client.status.type === 'connected');
  assert.equal(credentials.pairing, undefined, 'the lasting key came first');
  client.close();
  const again = open('by-code', { credentials: async () => credentials });
  await until('connected again', () => again.status.type === 'connected');
  const session = await hub.get('/api/sessions/by-code');
  assert.deepEqual([session.origin, session.kind], [EXTENSION, 'browser']);
});

/** Asks the native messaging host for a key. */
function hostKey(instanceId: string): Uint8Array {
  const request = Buffer.from(JSON.stringify({ type: 'hello', instanceId }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(request.length);
  const output = hub.run(['native-host', `${EXTENSION}/`], Buffer.concat([length, request]));
  assert.equal(output.readUInt32LE(), output.length - 4);
  const answer = JSON.parse(output.subarray(4).toString());
  assert.deepEqual([answer.type, answer.port, answer.running], ['hub', hub.port, true]);
  return Buffer.from(answer.key, 'base64url');
}

test('a key of the native messaging host works at once, until it is unpaired', async () => {
  const key = hostKey('by-host');
  const reasons: string[] = [];
  const client = open('by-host', {
    credentials: async () => ({ key }),
    onStatus: (status) => {
      if (status.type === 'waiting') reasons.push(status.reason);
    },
  });
  await until('connected', () => client.status.type === 'connected');
  hub.run(['unpair', 'by-host']);
  await until('put out', () => reasons.some((reason) => reason.includes('unpaired')));
  await until('not let in', () => reasons.some((reason) => reason.includes('not paired')));
});

test('a plain hello and an unknown browser are told what to do', async () => {
  for (const credentials of [async () => undefined, async () => ({ key: randomBytes(32) })]) {
    const client = open('unknown', { credentials });
    await until('refused', () => client.status.type === 'waiting');
    assert.match(reasonOf(client), /tabwire pair/);
    client.close();
  }
});

test('a program that passes everything on between browser and hub is found out', async () => {
  const between = await CuttingProxy.start(hub.port);
  after(() => between.close());
  // The test before this one has switched the host off.
  hub.run(['pair', '--no-wait', '--json']);
  const key = hostKey('relayed');
  const url = `ws://127.0.0.1:${between.port}`;
  const client = open('relayed', { url, credentials: async () => ({ key }) });
  await until('refused', () => client.status.type === 'waiting');
  const said = reasonOf(client);
  assert.match(said, /somebody stands between them/);
  assert.ok(said.includes(`--allow-host 127.0.0.1:${between.port}`), said);
  client.close();
  const direct = open('relayed', { credentials: async () => ({ key }) });
  await until('connected', () => direct.status.type === 'connected');
});

test('a program on the port that is not the hub learns who dials where and nothing more', async () => {
  const heard: string[] = [];
  const codes: number[] = [];
  const fake = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  after(() => fake.close());
  fake.on('connection', (socket) => {
    socket.on('message', (data) => {
      heard.push(String(data));
      const { nonce } = JSON.parse(String(data));
      // What it can think of: its own nonce, a proof that it does not have, the nonce sent back.
      for (const proof of [randomBytes(32).toString('base64url'), String(nonce)]) {
        socket.send(JSON.stringify({ type: 'challenge', nonce, proof }));
      }
      socket.send(JSON.stringify({ type: 'ping' }));
    });
    socket.on('close', (code) => codes.push(code));
  });
  await once(fake, 'listening');
  const address = fake.address();
  assert.ok(typeof address === 'object' && address !== null);
  const client = open('careful', {
    url: `ws://127.0.0.1:${address.port}`,
    name: 'secret name',
    credentials: async () => ({ key: randomBytes(32) }),
  });
  client.sendEvent('console', { text: 'secret' });
  client.tabCreated({ id: 1, url: 'https://secret.example/' });
  await until('several attempts', () => codes.length >= 3);
  client.close();
  const keys = ['address', 'instanceId', 'kind', 'nonce', 'type'];
  for (const said of heard) assert.deepEqual(Object.keys(JSON.parse(said)).sort(), keys);
  assert.equal(new Set(heard).size, heard.length, 'a new nonce each time');
  assert.ok(
    codes.slice(0, 3).every((code) => code === 4403),
    codes.join(),
  );
});
