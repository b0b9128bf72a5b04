/**
 * One socket: the opening, the door, life signs, and every way to end.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Closed, Connection } from '../src/connection';
import { FakeClock } from './support/fake-clock';
import { FakeSocket, welcome } from './support/fake-socket';

function opened() {
  const clock = new FakeClock();
  const socket = new FakeSocket('ws://hub/session/me', ['tabwire.v1']);
  const got: string[] = [];
  const closed: Closed[] = [];
  const hello = { type: 'hello', instanceId: 'me', kind: 'app', epoch: 'mine' } as const;
  const connection = new Connection(socket, hello, clock, {
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
