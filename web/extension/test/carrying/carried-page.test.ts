/**
 * One carried page: the opening that the worker makes on its behalf, and what passes after that.
 */

import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { settled, until } from '../../../shared/test/support/fake-clock';
import { type FakeSocket, Sockets, welcome } from '../../../shared/test/support/fake-socket';
import { CarriedPage } from '../../src/background/carried-page';
import { asPort, pagePort } from './fake-ports';

const KEY = new Uint8Array(randomBytes(32));
const ORIGIN = 'https://app.example';
const ADDRESS = 'loopback:4711';
const HELLO = {
  type: 'hello',
  instanceId: 'page',
  kind: 'app',
  name: 'Todo',
  version: '2',
  capabilities: ['results', 'deflate'],
  epoch: 'e1',
  position: { epoch: 'h', sequence: 4 },
  resumeToken: 'token',
};

function hmac(label: string, ...words: unknown[]): string {
  return createHmac('sha256', KEY)
    .update([label, ...words].join('\n'))
    .digest('base64url');
}

/** A page whose socket is being opened. */
function opening() {
  const port = pagePort(ORIGIN);
  const page = new CarriedPage(asPort(port));
  const sockets = new Sockets();
  const ended: CarriedPage[] = [];
  page.attach({
    wants: () => {
      const hub = { port: 4711, key: KEY };
      page.connect({ instanceId: 'chrome-1', hub, webSocket: sockets.constructorForClient });
    },
    ended: (which) => ended.push(which),
  });
  port.say({ type: 'open', instanceId: 'page' });
  return { port, page, socket: sockets.last, ended };
}

/** The hub's answer to the greeting. */
function challenge(
  socket: FakeSocket,
  words: readonly string[] = ['chrome-1', ORIGIN],
  address = ADDRESS,
) {
  const theirs = socket.of('hello')[0]?.nonce;
  const nonce = randomBytes(32).toString('base64url');
  const proof = hmac('tabwire.v2 hub', address, 'page', theirs, nonce, ...words);
  return { type: 'challenge', nonce, proof } as const;
}

/** A page that the hub has welcomed. */
async function carrying() {
  const scene = opening();
  const { port, socket } = scene;
  socket.open();
  port.say({ type: 'frame', data: JSON.stringify(HELLO) });
  socket.say(challenge(socket));
  await until(() => socket.of('prove').length === 1);
  socket.say(welcome({ name: 'todo' }));
  return scene;
}

test('the worker makes the opening, with its own key and the origin that the browser names', async () => {
  const { port, socket } = opening();
  assert.equal(socket.url, 'ws://127.0.0.1:4711/session/page');
  assert.deepEqual(socket.protocols, ['tabwire.v1']);
  assert.deepEqual(port.said, []);
  socket.open();
  assert.deepEqual(port.said, [{ type: 'open' }]);
  const lies = { ...HELLO, carrier: 'another', origin: 'https://bank.example', nonce: 'mine' };
  port.say({ type: 'frame', data: JSON.stringify(lies) });
  const greeting = socket.of('hello')[0] ?? assert.fail('no hello');
  const { nonce, ...rest } = greeting;
  assert.equal(nonce?.length, 43);
  assert.notEqual(nonce, 'mine');
  assert.deepEqual(rest, {
    type: 'hello',
    instanceId: 'page',
    kind: 'app',
    address: ADDRESS,
    carrier: 'chrome-1',
    origin: ORIGIN,
  });
  const asked = challenge(socket);
  socket.say(asked);
  await until(() => socket.of('prove').length === 1);
  const { type, instanceId, kind, ...introduction } = HELLO;
  assert.deepEqual(socket.of('prove')[0], {
    ...introduction,
    type: 'prove',
    capabilities: ['results'],
    proof: hmac('tabwire.v2 browser', ADDRESS, 'page', nonce, asked.nonce, 'chrome-1', ORIGIN),
  });
  socket.say(welcome({ name: 'todo' }));
  assert.equal(port.frames[0]?.type, 'welcome');
});

test('frames pass both ways as they are, until one side ends it', async () => {
  const { port, page, socket, ended } = await carrying();
  port.say({ type: 'frame', data: '{"type":"event","sequence":1,"name":"x"}' });
  assert.equal(socket.of('event')[0]?.name, 'x');
  socket.sayRaw('{"type": "ping"}');
  assert.deepEqual(port.last, { type: 'frame', data: '{"type": "ping"}' });
  socket.end(1012, 'the hub restarts');
  assert.deepEqual(port.last, { type: 'close', code: 1012, reason: 'the hub restarts' });
  assert.equal(port.isOpen, false);
  assert.deepEqual(ended, [page]);
});

test('a page that closes or goes takes its socket with it', async () => {
  const closed = await carrying();
  closed.port.say({ type: 'close', code: 4400, reason: 'x'.repeat(200) });
  assert.deepEqual(closed.socket.closedBy, { code: 4400, reason: 'x'.repeat(40) });
  assert.equal(closed.ended.length, 1);
  const gone = await carrying();
  gone.port.leave();
  assert.deepEqual(gone.socket.closedBy, { code: undefined, reason: undefined });
  assert.equal(gone.ended.length, 1);
  const odd = await carrying();
  odd.port.say({ type: 'close', code: 1006 });
  assert.equal(odd.socket.closedBy?.code, undefined, 'a code that only browsers may use');
});

test('a hub that cannot prove itself for this page learns nothing of it', async () => {
  for (const [words, address] of [
    [[], ADDRESS],
    [['chrome-1', 'https://other.example'], ADDRESS],
    [['chrome-2', ORIGIN], ADDRESS],
    [['chrome-1', ORIGIN], 'loopback:4712'],
  ] as const) {
    const { port, socket } = opening();
    socket.open();
    port.say({ type: 'frame', data: JSON.stringify(HELLO) });
    socket.say(challenge(socket, words, address));
    await until(() => port.last?.type === 'close');
    assert.deepEqual(port.last, {
      type: 'close',
      code: 4403,
      reason: 'the hub could not prove itself',
    });
    assert.deepEqual(
      socket.sent.map(({ type }) => type),
      ['hello'],
    );
  }
});

test('what an unproven hub says is told as an end that the page may come back from', async () => {
  const { port, socket } = opening();
  socket.open();
  port.say({ type: 'frame', data: JSON.stringify(HELLO) });
  socket.say({ type: 'bye', code: 'refused', retry: false, message: 'go away' });
  assert.deepEqual(port.said.slice(1), [{ type: 'close', code: 4403, reason: 'go away' }]);
  const shut = opening();
  shut.socket.open();
  shut.socket.end(4503, 'never again');
  assert.deepEqual(shut.port.last, { type: 'close', code: 1006, reason: 'never again' });
});

test('one challenge has one answer', async () => {
  const { port, socket } = opening();
  socket.open();
  port.say({ type: 'frame', data: JSON.stringify(HELLO) });
  socket.say(challenge(socket));
  socket.say(challenge(socket));
  await until(() => socket.of('prove').length === 1);
  await settled();
  assert.equal(socket.of('prove').length, 1);
});

test('what a page says out of turn, or about somebody else, costs its connection', () => {
  const frame = (over: object) => ({ type: 'frame', data: JSON.stringify({ ...HELLO, ...over }) });
  for (const wrong of [
    frame({ type: 'prove' }),
    frame({ instanceId: 'another' }),
    frame({ kind: 'browser' }),
    { type: 'frame', data: 'not json' },
    { type: 'frame', data: '[]' },
    { type: 'open', instanceId: 'page' },
  ]) {
    const { port, socket } = opening();
    socket.open();
    port.say(wrong);
    assert.equal(port.last?.code, 4500, JSON.stringify(wrong));
    assert.deepEqual(socket.sent, []);
  }
  const hasty = opening();
  hasty.port.say({ type: 'frame', data: JSON.stringify(HELLO) });
  assert.equal(hasty.port.last?.code, 4500, 'before the hub has answered');
  const early = pagePort();
  new CarriedPage(asPort(early));
  early.say({ type: 'frame', data: '{}' });
  assert.equal(early.last?.code, 4500);
  const odd = pagePort();
  new CarriedPage(asPort(odd));
  odd.say({ type: 'open', instanceId: '../../mcp' });
  assert.equal(odd.last?.code, 4500);
});

test('a page that says too much at once is ended', async () => {
  const large = await carrying();
  large.port.say({ type: 'frame', data: 'x'.repeat(16 * 1024 * 1024 + 1) });
  assert.equal(large.port.last?.code, 1009);
  const hello = opening();
  hello.socket.open();
  const name = 'x'.repeat(1024 * 1024);
  hello.port.say({ type: 'frame', data: JSON.stringify({ ...HELLO, name }) });
  assert.equal(hello.port.last?.code, 1009);
  const unread = await carrying();
  unread.socket.bufferedAmount = 32 * 1024 * 1024;
  unread.port.say({ type: 'frame', data: '{"type":"ping"}' });
  assert.equal(unread.port.last?.code, 4413);
  const fast = await carrying();
  // At least one of the seconds that this takes has more than its share.
  for (let sent = 0; sent < 500_000 && fast.port.isOpen; sent += 1) {
    fast.socket.sent.length = 0;
    fast.port.say({ type: 'frame', data: '{"type":"ping"}' });
  }
  assert.equal(fast.port.last?.code, 4413);
});

test('only the main frame of a web page has an origin', () => {
  for (const [origin, frameId, expected] of [
    ['https://app.example', 0, 'https://app.example'],
    ['http://app.example:8080', 0, 'http://app.example:8080'],
    ['https://app.example', 3, undefined],
    ['null', 0, undefined],
    ['chrome-extension://abc', 0, undefined],
    [7, 0, undefined],
  ] as const) {
    assert.equal(new CarriedPage(asPort(pagePort(origin, frameId))).origin, expected, `${origin}`);
  }
});
