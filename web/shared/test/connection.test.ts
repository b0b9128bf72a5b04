/**
 * One socket: the opening, the door, life signs, and every way to end.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { type Closed, Connection } from '../src/connection';
import type { Received } from '../src/messages';
import { FakeClock, settled, until } from './support/fake-clock';
import { FakeSocket, welcome } from './support/fake-socket';

function opened(capabilities: string[] = []) {
  const clock = new FakeClock();
  const socket = new FakeSocket('ws://hub/session/me', ['tabwire.v1']);
  const got: string[] = [];
  const closed: Closed[] = [];
  const hello = { type: 'hello', instanceId: 'me', kind: 'app', epoch: 'mine' } as const;
  const connection = new Connection(socket, { hello: { ...hello, capabilities } }, clock, {
    welcome: ({ name }) => got.push(`welcome ${name}`),
    message: ({ type }) => got.push(type),
    closed: (how) => closed.push(how),
  });
  const greet = () => {
    socket.open();
    socket.say(welcome());
  };
  return { clock, socket, connection, got, closed, greet };
}

test('hello is the first message, and nothing is sent before welcome', () => {
  const { socket, connection, got } = opened();
  connection.send('{"type":"ping"}');
  socket.open();
  connection.send('{"type":"ping"}');
  assert.deepEqual(
    socket.sent.map(({ type }) => type),
    ['hello'],
  );
  socket.say(welcome());
  connection.send('{"type":"ping"}');
  assert.deepEqual(
    socket.sent.map(({ type }) => type),
    ['hello', 'ping'],
  );
  assert.deepEqual(got, ['welcome viewer']);
});

test('pings are answered, messages handed on', () => {
  const { socket, got, greet } = opened();
  greet();
  socket.say({ type: 'ping' });
  socket.say({ type: 'pong' });
  socket.say({ type: 'cancel', callId: 'c' });
  assert.equal(socket.of('pong').length, 1);
  assert.deepEqual(got, ['welcome viewer', 'cancel']);
});

test('frames that break the protocol close with 4400, and coming back makes sense', () => {
  const broken = ['nonsense', '{"type":"telepathy"}', '{"type":"cancel"}', new ArrayBuffer(2)];
  for (const data of broken) {
    const { socket, closed, got, greet } = opened();
    greet();
    socket.sayRaw(data);
    socket.say({ type: 'cancel', callId: 'after the end' });
    assert.equal(socket.closedBy?.code, 4400);
    assert.deepEqual(
      closed.map(({ retry }) => retry),
      [true],
    );
    assert.deepEqual(got, ['welcome viewer'], 'nothing is taken after the end');
  }
});

test('messages before welcome and a second welcome break the protocol', () => {
  const early = opened();
  early.socket.open();
  early.socket.say({ type: 'cancel', callId: 'c' });
  assert.equal(early.socket.closedBy?.code, 4400);
  const twice = opened();
  twice.greet();
  twice.socket.say(welcome());
  assert.equal(twice.socket.closedBy?.code, 4400);
});

test('a hub that does not welcome is given up after ten seconds', async () => {
  const { clock, socket, closed } = opened();
  socket.open();
  await clock.advance(9_999);
  assert.equal(closed.length, 0);
  await clock.advance(1);
  assert.deepEqual(closed, [{ reason: 'no welcome from the hub', retry: true }]);
});

test('a hub that falls silent is asked and then given up', async () => {
  const { clock, socket, closed, greet } = opened();
  greet();
  await clock.advance(20_000);
  assert.equal(socket.of('ping').length, 1);
  await clock.advance(10_000);
  assert.equal(socket.closedBy?.code, 4408);
  assert.deepEqual(
    closed.map(({ retry }) => retry),
    [true],
  );
});

test('a hub that answers pings lives', async () => {
  const { clock, socket, closed, greet } = opened();
  greet();
  socket.onSent = ({ type }) => {
    if (type === 'ping') socket.say({ type: 'pong' });
  };
  await clock.advance(600_000);
  assert.deepEqual(closed, []);
});

test('the close code decides whether to come back', () => {
  for (const [code, retry] of [
    [1006, true],
    [1012, true],
    [4409, true],
    [1000, false],
    [4503, false],
  ] as const) {
    const { socket, closed, greet } = opened();
    greet();
    socket.end(code, 'why');
    assert.deepEqual(closed, [{ reason: 'why', retry }], `${code}`);
  }
});

test('a bye decides, whatever close follows', () => {
  for (const retry of [true, false]) {
    const { socket, closed, greet } = opened();
    greet();
    socket.say({ type: 'bye', code: 'restarting', retry, message: 'see you' });
    socket.end(retry ? 1008 : 1012);
    assert.deepEqual(closed, [{ reason: 'see you', retry }]);
  }
});

test('a bye before welcome is respected too', () => {
  const { socket, closed } = opened();
  socket.open();
  socket.say({ type: 'bye', code: 'refused', retry: false });
  assert.deepEqual(closed, [{ reason: 'refused', retry: false }]);
});

test('an end is told once and leaves no timer behind', async () => {
  const { clock, socket, connection, closed, greet } = opened();
  greet();
  connection.fail(4400, 'first');
  connection.close();
  socket.end();
  await clock.advance(60_000);
  assert.deepEqual(closed, [{ reason: 'first', retry: true }]);
  assert.equal(clock.waiting, 0);
});

test('a socket that throws is a lost connection', () => {
  const { socket, connection, closed, greet } = opened();
  greet();
  socket.send = () => {
    throw new Error('InvalidStateError');
  };
  connection.send('{"type":"ping"}');
  assert.deepEqual(closed, [{ reason: 'InvalidStateError', retry: true }]);
});

test('leaving says bye', () => {
  const { socket, connection, closed, greet } = opened();
  greet();
  connection.close();
  assert.deepEqual(socket.of('bye'), [{ type: 'bye', code: 'normal', retry: false }]);
  assert.equal(socket.closedBy?.code, 1000);
  assert.deepEqual(closed, [{ reason: 'closed', retry: false }]);
});

const PAGE: Received<'replayPage'> = {
  type: 'replayPage',
  epoch: 'hub',
  upto: 0,
  recovered: true,
  messages: [],
  more: false,
};

test('what follows a compressed page waits for it', async () => {
  const { socket, got, closed, greet } = opened(['deflate']);
  greet();
  socket.sayCompressed(PAGE);
  socket.say({ type: 'cancel', callId: 'c' });
  socket.sayCompressed(PAGE);
  socket.say({ type: 'callQuery', callId: 'c' });
  socket.say({ type: 'bye', code: 'restarting', retry: true, message: 'see you' });
  socket.end(1000);
  assert.deepEqual(got, ['welcome viewer']);
  await until(() => closed.length > 0);
  assert.deepEqual(got, ['welcome viewer', 'replayPage', 'cancel', 'replayPage', 'callQuery']);
  assert.deepEqual(closed, [{ reason: 'see you', retry: true }], 'the bye came before the close');
});

test('a binary frame that is no page, or was not offered, closes with 4400', async () => {
  const check = async (capabilities: string[], bytes: Uint8Array) => {
    const { socket, got, closed, greet } = opened(capabilities);
    greet();
    socket.sayBytes(bytes);
    socket.say({ type: 'cancel', callId: 'after the end' });
    await until(() => closed.length > 0);
    await settled();
    assert.equal(socket.closedBy?.code, 4400);
    assert.deepEqual(got, ['welcome viewer']);
  };
  await check([], deflateRawSync(JSON.stringify(PAGE)));
  await check(['deflate'], Buffer.from('not deflate'));
  await check(['deflate'], deflateRawSync('not json'));
  await check(['deflate'], deflateRawSync('{"type":"replayPage"}'));
  await check(['deflate'], deflateRawSync('{"type":"ping"}'));
  await check(['deflate'], deflateRawSync(JSON.stringify(welcome())));
  await check(['deflate'], deflateRawSync(Buffer.alloc(17 * 1024 * 1024, 32)));
});

test('a page that is inflated after the end is not taken', async () => {
  const { clock, socket, connection, got, greet } = opened(['deflate']);
  greet();
  socket.sayCompressed(PAGE);
  connection.fail(4400, 'the end');
  for (let turn = 0; turn < 100; turn++) await settled();
  assert.deepEqual(got, ['welcome viewer']);
  assert.equal(clock.waiting, 0);
});

test('large pages are sent compressed, and what is sent later comes later', async () => {
  const { socket, connection, greet } = opened(['deflate']);
  greet();
  const large = JSON.stringify({ ...PAGE, messages: ['x'.repeat(20_000)] });
  connection.sendPage(JSON.stringify(PAGE));
  assert.ok(connection.hasRoom);
  connection.sendPage(large);
  assert.ok(!connection.hasRoom, 'the log keeps the rest');
  connection.send('{"type":"ping"}');
  await until(() => socket.of('ping').length > 0);
  assert.ok(connection.hasRoom);
  assert.deepEqual(
    socket.sent.map(({ type }) => type),
    ['hello', 'replayPage', 'replayPage', 'ping'],
  );
  assert.equal(socket.compressed.length, 1);
  assert.ok(Number(socket.compressed[0]) < 1000);
});

test('pages are text where nothing else was offered', () => {
  const { socket, connection, greet } = opened();
  greet();
  connection.sendPage(JSON.stringify({ ...PAGE, messages: ['x'.repeat(20_000)] }));
  assert.equal(socket.of('replayPage').length, 1);
  assert.deepEqual(socket.compressed, []);
});

test('leaving does not wait for a page', () => {
  const { socket, connection, greet } = opened(['deflate']);
  greet();
  connection.sendPage(JSON.stringify({ ...PAGE, messages: ['x'.repeat(20_000)] }));
  connection.close();
  assert.equal(socket.of('bye').length, 1);
  assert.equal(socket.closedBy?.code, 1000);
});
