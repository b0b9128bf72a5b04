/**
 * Proofs: the hub goes first, and whoever does not know the key learns nothing.
 */

import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type Closed, Connection } from '../src/connection';
import { connect } from '../src/index';
import type { Received } from '../src/messages';
import { type Credentials, dialledAddress, Prover } from '../src/proof';
import { FakeClock, settled, until } from './support/fake-clock';
import { FakeSocket, Sockets, welcome } from './support/fake-socket';

const KEY = randomBytes(32);
/** Where the client dials, and what proofs have of it. */
const DIALLED = 'ws://127.0.0.1:8765';
const ADDRESS = 'loopback:8765';

/** Written apart from the client's own way, so that the two can disagree. */
function hmac(key: Uint8Array, label: string, ...words: string[]): Buffer {
  return createHmac('sha256', key)
    .update([label, ...words].join('\n'))
    .digest();
}

function opened(credentials: Credentials) {
  const clock = new FakeClock();
  const socket = new FakeSocket(`${DIALLED}/session/me`, ['tabwire.v1']);
  const got: string[] = [];
  const closed: Closed[] = [];
  const hello = {
    type: 'hello',
    instanceId: 'me',
    kind: 'browser',
    name: 'Chrome work',
    version: '1.0',
    capabilities: ['results', 'deflate'],
    commands: ['browser_navigate'],
    epoch: 'mine',
    position: { epoch: 'hub', sequence: 3 },
    resumeToken: 'token',
  } as const;
  const copied = { ...hello, capabilities: ['results', 'deflate'], commands: ['browser_navigate'] };
  const prover = new Prover(credentials, { instanceId: 'me', dialled: DIALLED });
  const connection = new Connection(socket, { hello: copied, prover }, clock, {
    paired: (key) => got.push(`paired ${Buffer.from(key).toString('base64url')}`),
    welcome: ({ name }) => got.push(`welcome ${name}`),
    message: ({ type }) => got.push(type),
    closed: (how) => closed.push(how),
  });
  socket.open();
  return { clock, socket, connection, got, closed };
}

function challenge(
  socket: FakeSocket,
  key: Uint8Array = KEY,
  label = 'tabwire.v2 hub',
  address = ADDRESS,
): Received<'challenge'> {
  const nonce = randomBytes(32).toString('base64url');
  const theirs = socket.of('hello')[0]?.nonce ?? assert.fail();
  const proof = hmac(key, label, address, 'me', theirs, nonce).toString('base64url');
  return { type: 'challenge', nonce, proof };
}

function types(socket: FakeSocket): string[] {
  return socket.sent.map(({ type }) => type);
}

test('proofs are what other programs compute', () => {
  // The same numbers stand in crates/guard/src/pairing/key.rs.
  const words = [
    ADDRESS,
    '4f6e',
    'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8',
    'HyAhIiMkJSYnKCkqKywtLi8wMTIzNDU2Nzg5Ojs8PT4',
  ];
  const key = new Uint8Array(32).fill(7);
  assert.equal(
    hmac(key, 'tabwire.v2 hub', ...words).toString('base64url'),
    'W9jw2NHS1jli3KBWLG_MJNF79U6g74q0ZoqSsMN7rTM',
  );
  assert.equal(
    hmac(key, 'tabwire.v2 browser', ...words).toString('base64url'),
    'gexyU0SnJXOLn5H3kCwVSRFFhROVG2qmRyaSvk8EfdI',
  );
  const carried = [...words, 'chrome-1', 'https://app.example'];
  assert.equal(
    hmac(key, 'tabwire.v2 hub', ...carried).toString('base64url'),
    'Vo_gmFg8e8BNSo8_MhzDGpbQcXokjltTGO5ynTnhn7E',
  );
  assert.equal(
    hmac(key, 'tabwire.v2 browser', ...carried).toString('base64url'),
    'bzzoaBKh7uhVLW2c0-lS9Qw1FEHavECBdhMyS8Mz__E',
  );
  const codeKey = createHash('sha256').update('tabwire.v1 code\n0123456789ABCDEF').digest();
  assert.equal(
    hmac(codeKey, 'tabwire.v2 key', ...words).toString('base64url'),
    '1-J4qRyo3Ao3U19VsrViLYribvYM-O5bgVHGi4r-O_4',
  );
});

test('the address of a proof is host and port, and this machine has one name', () => {
  for (const [url, address] of [
    ['ws://127.0.0.1:8765', 'loopback:8765'],
    ['http://LocalHost:8765/', 'loopback:8765'],
    ['ws://[::1]:8765/session/me', 'loopback:8765'],
    ['ws://[0:0:0:0:0:0:0:1]:8765', 'loopback:8765'],
    ['ws://127.1:8766', 'loopback:8766'],
    ['ws://Hub.Example:8765', 'hub.example:8765'],
    ['ws://hub.example', 'hub.example:80'],
    ['https://hub.example', 'hub.example:443'],
    ['ws://loopback:8765', 'loopback.:8765'],
  ] as const) {
    assert.equal(dialledAddress(url), address, url);
  }
});

test('a proof for another address, as a program in between passes it on, is none', async () => {
  // The hub is at 8765 and has made its proof for whoever dialled it there; we have dialled 8766.
  for (const elsewhere of ['loopback:8766', 'hub.example:8765', '127.0.0.1:8765', '']) {
    const { socket, closed } = opened({ key: KEY });
    socket.say(challenge(socket, KEY, 'tabwire.v2 hub', elsewhere));
    await until(() => closed.length > 0);
    assert.deepEqual(types(socket), ['hello'], elsewhere);
    assert.equal(socket.closedBy?.code, 4403);
  }
});

test('a hub that refuses the address, or an old extension, is quoted as it speaks', () => {
  const words = 'you have dialled loopback:8766 and this hub is at loopback:8765';
  const byBye = opened({ key: KEY });
  byBye.socket.say({ type: 'bye', code: 'refused', retry: false, message: words });
  assert.deepEqual(byBye.closed, [{ reason: words, retry: true }]);
  const byClose = opened({ key: KEY });
  byClose.socket.end(4403, words);
  assert.deepEqual(byClose.closed, [{ reason: words, retry: true }]);
});

test('only who and where is said before the hub has proven itself, then all the rest', async () => {
  const { socket, got } = opened({ key: KEY });
  const [greeting] = socket.of('hello');
  assert.match(greeting?.nonce ?? '', /^[\w-]{43}$/);
  const said = ['address', 'instanceId', 'kind', 'nonce', 'type'];
  assert.deepEqual(Object.keys(greeting ?? {}).sort(), said);
  assert.equal(greeting?.address, ADDRESS);
  const asked = challenge(socket);
  socket.say(asked);
  await until(() => socket.sent.length > 1);
  const words = [ADDRESS, 'me', greeting?.nonce ?? '', asked.nonce];
  const proof = hmac(KEY, 'tabwire.v2 browser', ...words);
  assert.deepEqual(socket.of('prove'), [
    {
      type: 'prove',
      proof: proof.toString('base64url'),
      name: 'Chrome work',
      version: '1.0',
      capabilities: ['results', 'deflate'],
      commands: ['browser_navigate'],
      epoch: 'mine',
      position: { epoch: 'hub', sequence: 3 },
      resumeToken: 'token',
    },
  ]);
  socket.say(welcome());
  assert.deepEqual(got, ['welcome viewer'], 'no pairing, no new key');
});

test('each connection has a nonce of its own', () => {
  const [one, two] = [opened({ key: KEY }), opened({ key: KEY })];
  assert.notEqual(one.socket.of('hello')[0]?.nonce, two.socket.of('hello')[0]?.nonce);
});

test('a hub with a wrong proof is left with its own code, and nothing more is said', async () => {
  const wrong = [
    (socket: FakeSocket) => challenge(socket, randomBytes(32)),
    (socket: FakeSocket) => challenge(socket, KEY, 'tabwire.v2 browser'),
    (socket: FakeSocket) => ({
      ...challenge(socket),
      nonce: randomBytes(32).toString('base64url'),
    }),
    (socket: FakeSocket) => ({ ...challenge(socket), proof: '' }),
    (socket: FakeSocket) => ({ ...challenge(socket), proof: 'not base64url!' }),
  ];
  for (const make of wrong) {
    const { clock, socket, connection, got, closed } = opened({ key: KEY });
    socket.say(make(socket));
    socket.say({ type: 'ping' });
    socket.say(welcome());
    await until(() => closed.length > 0);
    connection.send('{"type":"ping"}');
    connection.close();
    await clock.advance(60_000);
    assert.deepEqual(types(socket), ['hello']);
    assert.deepEqual(socket.closedBy, { code: 4403, reason: 'the hub could not prove itself' });
    assert.deepEqual(closed, [{ reason: 'the hub could not prove itself', retry: true }]);
    assert.deepEqual(got, []);
  }
});

test('a challenge from another conversation proves nothing', async () => {
  const first = opened({ key: KEY });
  const recorded = challenge(first.socket);
  const second = opened({ key: KEY });
  second.socket.say(recorded);
  await until(() => second.closed.length > 0);
  assert.deepEqual(types(second.socket), ['hello']);
  assert.equal(second.socket.closedBy?.code, 4403);
});

test('whatever comes before the challenge ends it, and is not answered', () => {
  const early: Parameters<FakeSocket['say']>[0][] = [
    welcome(),
    { type: 'ping' },
    { type: 'pong' },
    { type: 'requestState', requestId: 'r', forceRefresh: true },
    { type: 'ack', position: { epoch: 'mine', sequence: 1 } },
  ];
  for (const message of early) {
    const { socket, closed, got } = opened({ key: KEY });
    socket.say(message);
    assert.equal(socket.closedBy?.code, 4400, message.type);
    assert.deepEqual(types(socket), ['hello']);
    assert.deepEqual([closed.length, got.length], [1, 0]);
  }
  const { socket } = opened({ key: KEY });
  socket.sayBytes(new Uint8Array(100));
  assert.equal(socket.closedBy?.code, 4400, 'not even looked into');
});

test('what comes right behind a challenge waits until it was answered', async () => {
  const { socket, got, closed } = opened({ key: KEY });
  socket.say(challenge(socket));
  socket.say(welcome());
  socket.say({ type: 'cancel', callId: 'c' });
  await until(() => got.length === 2);
  assert.deepEqual(got, ['welcome viewer', 'cancel']);
  assert.deepEqual(types(socket), ['hello', 'prove']);
  assert.deepEqual(closed, []);
});

test('a second challenge, and one that nobody asked for, break the protocol', async () => {
  const twice = opened({ key: KEY });
  twice.socket.say(challenge(twice.socket));
  await until(() => twice.socket.sent.length > 1);
  twice.socket.say(challenge(twice.socket));
  assert.equal(twice.socket.closedBy?.code, 4400);
  assert.deepEqual(types(twice.socket), ['hello', 'prove']);
});

test('whoever has not proven itself cannot send us away for good', async () => {
  const byBye = opened({ key: KEY });
  byBye.socket.say({ type: 'bye', code: 'refused', retry: false });
  assert.deepEqual(byBye.closed, [{ reason: 'refused', retry: true }]);
  const byClose = opened({ key: KEY });
  byClose.socket.end(4503, 'refused');
  assert.deepEqual(byClose.closed, [{ reason: 'refused', retry: true }]);
  const proven = opened({ key: KEY });
  proven.socket.say(challenge(proven.socket));
  await until(() => proven.socket.sent.length > 1);
  proven.socket.end(4503, 'refused');
  assert.deepEqual(proven.closed, [{ reason: 'refused', retry: false }]);
});

test('a pairing gives the lasting key once the hub has welcomed, and not before', async () => {
  const { socket, got } = opened({ key: KEY, pairing: true });
  const [greeting] = socket.of('hello');
  assert.equal(greeting?.pairing, true);
  const asked = challenge(socket);
  socket.say(asked);
  await until(() => socket.sent.length > 1);
  await settled();
  assert.deepEqual(got, []);
  socket.say(welcome());
  const words = [ADDRESS, 'me', greeting?.nonce ?? '', asked.nonce];
  const lasting = hmac(KEY, 'tabwire.v2 key', ...words);
  assert.deepEqual(got, [`paired ${lasting.toString('base64url')}`, 'welcome viewer']);
});

test('a client asks for address, then credentials, before each attempt', async () => {
  const asked: string[] = [];
  const statuses: string[] = [];
  const clock = new FakeClock();
  const sockets = new Sockets();
  let names = 0;
  const client = connect({
    url: () => {
      asked.push('url');
      return DIALLED;
    },
    credentials: async () => {
      asked.push('credentials');
      if (asked.length === 2) throw new Error('the host does not answer');
      return asked.length > 6 ? undefined : { key: KEY };
    },
    name: () => `name ${++names}`,
    commands: ['browser_navigate'],
    kind: 'browser',
    instanceId: 'me',
    clock,
    webSocket: sockets.constructorForClient,
    onStatus: (status) => statuses.push(status.type === 'waiting' ? status.reason : status.type),
  });
  await settled();
  assert.deepEqual(statuses.slice(0, 2), ['connecting', 'the host does not answer']);
  await clock.advance(0);
  sockets.last.open();
  sockets.last.say(challenge(sockets.last, randomBytes(32)));
  await until(() => statuses.length === 4);
  assert.equal(statuses.at(-1), 'the hub could not prove itself');
  await clock.advance(500);
  sockets.last.open();
  sockets.last.say(challenge(sockets.last));
  await until(() => sockets.last.sent.length > 1);
  const [prove] = sockets.last.of('prove');
  assert.deepEqual([prove?.name, prove?.commands], ['name 2', ['browser_navigate']]);
  sockets.last.say(welcome());
  assert.equal(client.status.type, 'connected');
  assert.deepEqual(asked, ['url', 'credentials', 'url', 'credentials', 'url', 'credentials']);
  sockets.last.end();
  await clock.advance(500);
  sockets.last.open();
  const [plain] = sockets.last.of('hello');
  assert.deepEqual([plain?.nonce, plain?.name], [undefined, 'name 3'], 'no credentials: as ever');
  client.close();
});
