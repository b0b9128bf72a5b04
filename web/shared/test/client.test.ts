/**
 * The whole client against a hub that the test plays by hand.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClientOptions, connect, type Memory, type Snapshot, type Status } from '../src/index';
import { FakeClock, settled, until } from './support/fake-clock';
import { Sockets, welcome } from './support/fake-socket';

async function started(over: Partial<ClientOptions> = {}) {
  const clock = new FakeClock();
  const sockets = new Sockets();
  const statuses: Status[] = [];
  const events: number[] = [];
  const resyncs: string[] = [];
  const errors: unknown[] = [];
  const client = connect({
    url: 'ws://127.0.0.1:8765',
    kind: 'app',
    name: 'Viewer',
    ...(over.memory === undefined && { instanceId: 'me' }),
    webSocket: sockets.constructorForClient,
    clock,
    random: () => 1,
    onStatus: (status) => statuses.push(status),
    onEvent: ({ sequence }) => events.push(sequence),
    onResync: (reason) => resyncs.push(reason),
    onError: (error) => errors.push(error),
    ...over,
  });
  await settled();
  /** Opens the newest socket and welcomes the client as one who has seen what it was told. */
  const greet = (over: Parameters<typeof welcome>[0] = {}) => {
    const socket = sockets.last;
    socket.open();
    const epoch = socket.of('hello')[0]?.epoch ?? '';
    socket.say(welcome({ received: { epoch, sequence: 0 }, ...over }));
    return socket;
  };
  const status = () => statuses.at(-1)?.type;
  return { client, clock, sockets, statuses, status, events, resyncs, errors, greet };
}

function event(sequence: number) {
  return { type: 'event', sequence, name: 'x', level: 'info', data: null } as const;
}

test('it introduces itself and is connected when welcomed', async () => {
  const { client, sockets, statuses, greet } = await started({ version: '1.2.0' });
  assert.equal(sockets.last.url, 'ws://127.0.0.1:8765/session/me');
  assert.deepEqual(sockets.last.protocols, ['tabwire.v1']);
  const socket = greet();
  const { epoch, ...hello } = socket.of('hello')[0] ?? assert.fail();
  assert.match(epoch ?? '', /^[\w-]{32,64}$/);
  assert.deepEqual(hello, {
    type: 'hello',
    instanceId: 'me',
    kind: 'app',
    name: 'Viewer',
    version: '1.2.0',
    capabilities: ['results', 'deflate'],
  });
  assert.deepEqual(statuses, [
    { type: 'connecting' },
    { type: 'connected', sessionId: 's_1', name: 'viewer' },
  ]);
  assert.deepEqual(client.status, statuses.at(-1));
});

test('what was told before the connection stood goes out after welcome, numbered', async () => {
  const { client, greet } = await started();
  client.setTools([{ name: 'paint' }]);
  client.sendEvent('loaded', { ms: 12 });
  client.pushState({ color: 'red' });
  client.tabCreated({ id: 7 });
  client.tabUpdated({ id: 7, title: 'T' });
  client.tabFocused(7);
  client.tabClosed(7);
  const { sent } = greet();
  assert.deepEqual(
    sent
      .slice(1)
      .map((message) => ('sequence' in message ? [message.type, message.sequence] : message)),
    [
      ['toolsChanged', 1],
      ['event', 2],
      ['stateUpdate', 3],
      ['tabCreated', 4],
      ['tabUpdated', 5],
      ['tabFocused', 6],
      ['tabClosed', 7],
    ],
  );
  assert.deepEqual(sent[2], {
    type: 'event',
    sequence: 2,
    name: 'loaded',
    level: 'info',
    data: { ms: 12 },
  });
});

test('after a cut it comes back at once with token and position, and sends again what is missing', async () => {
  const { client, clock, sockets, events, greet } = await started();
  const first = greet();
  for (const name of ['a', 'b', 'c']) client.sendEvent(name);
  first.say(event(1));
  first.end();
  client.sendEvent('d');
  await clock.advance(0);
  assert.equal(sockets.all.length, 2);
  sockets.last.open();
  const hello = sockets.last.of('hello')[0] ?? assert.fail();
  assert.equal(hello.resumeToken, 'token');
  assert.deepEqual(hello.position, { epoch: 'hub', sequence: 1 });
  const received = { epoch: hello.epoch ?? assert.fail(), sequence: 2 };
  sockets.last.say(
    welcome({ received, currentSequence: 2, replay: [event(2)], resumeToken: 'new' }),
  );
  assert.deepEqual(
    sockets.last.of('event').map(({ name }) => name),
    ['c', 'd'],
  );
  assert.deepEqual(events, [1, 2]);
  sockets.last.end();
  await clock.advance(500);
  sockets.last.open();
  assert.equal(sockets.last.of('hello')[0]?.resumeToken, 'new');
});

test('received events are acked, soon and together', async () => {
  const { clock, greet } = await started();
  const socket = greet();
  for (let sequence = 1; sequence <= 60; sequence++) socket.say(event(sequence));
  assert.deepEqual(
    socket.of('ack').map(({ position }) => position.sequence),
    [50],
  );
  await clock.advance(1000);
  assert.deepEqual(
    socket.of('ack').map(({ position }) => position.sequence),
    [50, 60],
  );
});

test('a gap in the hub’s events is asked about, and an answer that never comes costs the connection', async () => {
  const { clock, sockets, events, greet } = await started();
  const socket = greet();
  for (const sequence of [1, 3, 4]) socket.say(event(sequence));
  const asked = [{ type: 'replayRequest', from: { epoch: 'hub', sequence: 1 } }];
  assert.deepEqual([events, socket.of('replayRequest')], [[1], asked]);
  await clock.advance(10_000);
  assert.equal(socket.closedBy?.code, 4408);
  assert.equal(sockets.all.length, 2);
});

test('an answer in time fills the gap', async () => {
  const { clock, events, greet } = await started();
  const socket = greet();
  for (const sequence of [1, 3]) socket.say(event(sequence));
  const messages = [event(2), event(3)];
  socket.say({ type: 'replayPage', epoch: 'hub', upto: 3, recovered: true, messages, more: false });
  await clock.advance(15_000);
  assert.deepEqual(events, [1, 2, 3]);
  assert.equal(socket.closedBy, undefined);
});

test('when the hub has lost its log the owner is told and tools are sent again', async () => {
  const { client, clock, resyncs, greet } = await started();
  client.setTools([{ name: 'paint' }]);
  client.setTools([{ name: 'search' }], 7);
  client.setTools([{ name: 'gone' }], 8);
  client.tabClosed(8);
  const first = greet();
  const epoch = first.of('hello')[0]?.epoch ?? '';
  first.say({ type: 'ack', position: { epoch, sequence: 4 } });
  first.end();
  await clock.advance(0);
  const second = greet({ epoch: 'other', recovered: false, reason: 'epoch_changed' });
  const [gap, ...rest] = second.sent.slice(1);
  assert.deepEqual(gap, {
    type: 'replayPage',
    epoch,
    upto: 4,
    recovered: false,
    reason: 'gap',
    messages: [],
    more: false,
  });
  assert.deepEqual(rest, [
    { type: 'toolsChanged', sequence: 5, tools: [{ name: 'paint' }] },
    { type: 'toolsChanged', sequence: 6, tabId: 7, tools: [{ name: 'search' }] },
  ]);
  assert.equal(resyncs.length, 1);
});

test('messages that had to be dropped are announced, then all that is kept, then tools anew', async () => {
  const { client, greet } = await started({ log: { maxMessages: 3 } });
  client.setTools([{ name: 'paint' }]);
  for (const name of ['a', 'b', 'c', 'd']) client.sendEvent(name);
  const { sent } = greet();
  assert.deepEqual(
    sent
      .slice(1)
      .map((message) =>
        'sequence' in message ? `${message.type} ${message.sequence}` : message.type,
      ),
    ['replayPage', 'event 3', 'event 4', 'event 5', 'toolsChanged 6'],
  );
});

test('after a gap the next state is whole', async () => {
  const { client, clock, greet } = await started({ log: { maxMessages: 2 } });
  const state = (a: number) => ({ a, text: 'long enough for a patch to be worth it, surely' });
  const first = greet();
  client.pushState(state(1));
  first.end();
  for (let a = 2; a < 8; a++) {
    client.pushState(state(a));
    await clock.advance(60);
  }
  const second = greet();
  await clock.advance(60);
  client.pushState(state(9));
  assert.deepEqual(second.of('stateUpdate').at(-1)?.state, state(9));
});

test('the hub may ask for what it missed', async () => {
  const { client, greet } = await started();
  const socket = greet();
  for (let count = 0; count < 3; count++) client.sendEvent('x');
  const epoch = socket.of('hello')[0]?.epoch ?? '';
  socket.say({ type: 'replayRequest', from: { epoch, sequence: 1 } });
  const page = socket.of('replayPage')[0];
  assert.deepEqual([page?.upto, page?.messages.length, page?.recovered], [3, 2, true]);
});

test('a socket that does not drain is not fed, and gets the rest when it does', async () => {
  const { client, clock, greet } = await started();
  const socket = greet();
  socket.bufferedAmount = 2 << 20;
  for (let count = 0; count < 5; count++) client.sendEvent('x');
  await clock.advance(200);
  assert.equal(socket.of('event').length, 0);
  socket.bufferedAmount = 0;
  await clock.advance(50);
  assert.deepEqual(
    socket.of('event').map(({ sequence }) => sequence),
    [1, 2, 3, 4, 5],
  );
});

test('calls and questions are answered', async () => {
  const { clock, greet } = await started({
    onCall: (call) => (call.type === 'callTool' ? { did: call.toolName } : undefined),
    onState: () => ({ a: 1 }),
  });
  const socket = greet();
  socket.say({
    type: 'callTool',
    callId: 'c',
    target: 'app',
    toolName: 'paint',
    args: {},
    deadlineMs: 1000,
  });
  socket.say({ type: 'requestState', requestId: 'r', forceRefresh: true });
  await clock.advance(0);
  socket.say({ type: 'callQuery', callId: 'c' });
  await clock.advance(0);
  assert.deepEqual(socket.of('toolResult')[0]?.result, { did: 'paint' });
  assert.deepEqual(socket.of('stateResponse')[0]?.state, { a: 1 });
  assert.equal(socket.of('callStatus')[0]?.state, 'ended');
});

test('a call that ends while away is not sent later; the hub asks for it', async () => {
  let finish: (value: unknown) => void = () => {};
  const { clock, greet } = await started({
    onCall: () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  });
  const first = greet();
  first.say({
    type: 'callTool',
    callId: 'c',
    target: 'app',
    toolName: 't',
    args: {},
    deadlineMs: 60_000,
  });
  await clock.advance(0);
  first.end();
  finish('done');
  await clock.advance(0);
  const second = greet();
  assert.equal(second.of('toolResult').length, 0);
  second.say({ type: 'callQuery', callId: 'c' });
  await clock.advance(0);
  assert.deepEqual(second.of('callStatus'), [
    { type: 'callStatus', callId: 'c', state: 'ended', result: 'done' },
  ]);
});

test('failed attempts wait as the policy says, and the owner sees it', async () => {
  const { clock, sockets, statuses } = await started();
  for (let count = 0; count < 30; count++) {
    sockets.last.end();
    await clock.advance(500);
  }
  const waits = statuses.flatMap((status) => (status.type === 'waiting' ? [status.retryInMs] : []));
  assert.equal(waits[0], 0);
  assert.ok(waits.slice(1, 10).every((waitMs) => waitMs <= 500));
  assert.ok(
    waits.some((waitMs) => waitMs >= 4000),
    `${waits}`,
  );
});

test('attempts that fail at once are half a second apart', async () => {
  const { clock, sockets } = await started();
  sockets.last.end();
  await clock.advance(0);
  sockets.last.end();
  await clock.advance(499);
  assert.equal(sockets.all.length, 2);
  await clock.advance(1);
  assert.equal(sockets.all.length, 3);
});

test('a wait can be ended early', async () => {
  const { client, clock, sockets } = await started();
  for (let count = 0; count < 20; count++) {
    sockets.last.end();
    await clock.advance(500);
  }
  const before = sockets.all.length;
  client.retryNow();
  await settled();
  assert.equal(sockets.all.length, before + 1);
  client.retryNow();
  await settled();
  assert.equal(sockets.all.length, before + 1, 'while connecting there is nothing to end');
});

test('a final close stops it with the reason', async () => {
  const { client, clock, sockets, greet } = await started();
  greet().end(4503, 'the instance belongs to another origin');
  await clock.advance(600_000);
  assert.equal(sockets.all.length, 1);
  assert.deepEqual(client.status, {
    type: 'stopped',
    reason: 'the instance belongs to another origin',
  });
  assert.equal(clock.waiting, 0);
});

test('a fixed address that is wrong stops it; one that is looked up is looked up again', async () => {
  const wrong = await started({ url: 'not an address' });
  assert.equal(wrong.status(), 'stopped');
  let asked = 0;
  const later = await started({
    url: async () => {
      if (++asked < 3) throw new Error('no hub yet');
      return 'ws://127.0.0.1:9000';
    },
  });
  await later.clock.advance(1000);
  assert.equal(later.sockets.last.url, 'ws://127.0.0.1:9000/session/me');
});

test('closing leaves the hub, stops calls and timers, and nothing works any more', async () => {
  let signal: AbortSignal | undefined;
  const { client, clock, sockets, greet } = await started({
    onCall: (_, context) => {
      signal = context.signal;
      return new Promise(() => {});
    },
  });
  const socket = greet();
  socket.say({
    type: 'callTool',
    callId: 'c',
    target: 'app',
    toolName: 't',
    args: {},
    deadlineMs: 60_000,
  });
  socket.say(event(1));
  client.pushState(1);
  client.pushState(2);
  await settled();
  client.close();
  client.close();
  client.sendEvent('late');
  client.pushState(3);
  assert.ok(signal?.aborted);
  assert.equal(socket.sent.at(-1)?.type, 'bye');
  await clock.advance(60_000);
  assert.equal(clock.waiting, 0);
  assert.deepEqual([sockets.all.length, client.status], [1, { type: 'stopped', reason: 'closed' }]);
});

test('an end leaves no timer behind, whatever was due', async () => {
  const { client, clock, greet } = await started();
  const socket = greet();
  for (const sequence of [1, 3]) socket.say(event(sequence));
  client.pushState(1);
  client.pushState(2);
  socket.bufferedAmount = 2 << 20;
  client.sendEvent('stuck');
  assert.ok(clock.waiting >= 5, 'ack, replay, state, heartbeat and socket wait');
  socket.end(4503);
  assert.equal(clock.waiting, 0);
});

test('closing while the hub is looked up opens no socket', async () => {
  let found: (url: string) => void = () => {};
  const looking = new Promise<string>((resolve) => {
    found = resolve;
  });
  const { client, sockets } = await started({ url: () => looking });
  client.close();
  found('ws://127.0.0.1:8765');
  await settled();
  assert.equal(sockets.all.length, 0);
});

test('closing before anything happened opens no socket', async () => {
  const sockets = new Sockets();
  const client = connect({ url: 'ws://h', kind: 'app', webSocket: sockets.constructorForClient });
  client.close();
  await settled();
  assert.equal(sockets.all.length, 0);
});

test('callbacks that throw, or close the client, break nothing', async () => {
  const throwing = await started({
    onEvent: () => {
      throw new Error('owner');
    },
    onStatus: () => {
      throw new Error('owner');
    },
  });
  const socket = throwing.greet();
  for (const sequence of [1, 2]) socket.say(event(sequence));
  await throwing.clock.advance(1000);
  assert.deepEqual(
    socket.of('ack').map(({ position }) => position.sequence),
    [2],
  );
  assert.equal(throwing.errors.length, 4);

  const closing = await started({ onEvent: () => closing.client.close() });
  closing.client.sendEvent('waiting');
  closing.greet({
    currentSequence: 2,
    replay: [event(1), event(2)],
    received: { epoch: 'x', sequence: 0 },
  });
  await closing.clock.advance(60_000);
  assert.equal(closing.clock.waiting, 0);
  assert.equal(closing.status(), 'stopped');
});

test('events that are not JSON throw at the owner and disturb nothing', async () => {
  const { client, greet } = await started();
  assert.throws(() => client.sendEvent('bad', 1n), { code: 'not_json' });
  client.sendEvent('good');
  assert.deepEqual(
    greet()
      .of('event')
      .map(({ sequence, name }) => [sequence, name]),
    [[1, 'good']],
  );
});

test('a replay that breaks the rules costs the connection, but the new token is kept', async () => {
  const { clock, sockets, greet } = await started();
  const first = greet({ currentSequence: 3, replay: [event(1), event(3)], resumeToken: 'second' });
  assert.equal(first.closedBy?.code, 4400);
  await clock.advance(0);
  sockets.last.open();
  assert.equal(sockets.last.of('hello')[0]?.resumeToken, 'second');
});

test('name, token and position survive in the memory, the log’s name does not', async () => {
  let kept: Snapshot | undefined;
  const memory: Memory = {
    load: () => Promise.resolve(kept),
    save: (snapshot) => {
      kept = snapshot;
    },
  };
  const first = await started({ memory });
  const socket = first.greet();
  socket.say(event(1));
  await first.clock.advance(1000);
  const second = await started({ memory });
  second.sockets.last.open();
  const [before, after] = [socket.of('hello')[0], second.sockets.last.of('hello')[0]];
  assert.equal(after?.instanceId, before?.instanceId);
  assert.equal(after?.resumeToken, 'token');
  assert.deepEqual(after?.position, { epoch: 'hub', sequence: 1 });
  assert.notEqual(after?.epoch, before?.epoch);
});

test('options that can never work throw at once', () => {
  const webSocket = new Sockets().constructorForClient;
  const bad = { url: 'ws://h', kind: 'app', webSocket, instanceId: 'no spaces' } as const;
  assert.throws(() => connect(bad), TypeError);
});

test('a replay in compressed pages is delivered whole, with live events across the seam', async () => {
  const { clock, events, greet } = await started();
  const first = greet({ currentSequence: 0 });
  first.end();
  await clock.advance(1000);
  const socket = greet({ currentSequence: 150, more: true });
  const page = (from: number, upto: number, more: boolean) => {
    const messages = Array.from({ length: upto - from }, (_, index) => event(from + index + 1));
    socket.sayCompressed({
      type: 'replayPage',
      epoch: 'hub',
      upto,
      recovered: true,
      messages,
      more,
    });
  };
  const asked = () => socket.of('replayRequest').map(({ from }) => from.sequence);
  assert.deepEqual(asked(), [0]);
  page(0, 100, true);
  await until(() => asked().length === 2);
  assert.deepEqual(asked(), [0, 100]);
  page(100, 151, false);
  socket.say(event(152));
  socket.say(event(153));
  await until(() => events.length >= 153);
  assert.deepEqual(
    events,
    Array.from({ length: 153 }, (_, index) => index + 1),
  );
  assert.deepEqual(asked(), [0, 100], 'nothing is missing');
  assert.equal(socket.closedBy, undefined);
});

test('a request for much is answered with a compressed page, in order with what follows', async () => {
  const { client, clock, greet } = await started();
  const socket = greet();
  const text = 'x'.repeat(500);
  for (let count = 0; count < 60; count++) client.sendEvent('console', { count, text });
  const epoch = socket.of('hello')[0]?.epoch ?? assert.fail();
  socket.say({ type: 'replayRequest', from: { epoch, sequence: 10 } });
  client.sendEvent('later');
  await until(() => socket.of('replayPage').length > 0);
  assert.equal(socket.of('event').length, 60, 'the later one waits');
  await clock.advance(20);
  const types = socket.sent.slice(-2).map(({ type }) => type);
  assert.deepEqual(types, ['replayPage', 'event']);
  assert.equal(socket.compressed.length, 1);
  const [page] = socket.of('replayPage');
  assert.deepEqual([page?.upto, page?.messages.length], [60, 50]);
});

test('an owner that claims more than the environment can is corrected', async () => {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'CompressionStream') ?? {};
  Object.defineProperty(globalThis, 'CompressionStream', { value: undefined, configurable: true });
  try {
    const { greet } = await started({ capabilities: ['deflate', 'other'] });
    assert.deepEqual(greet().of('hello')[0]?.capabilities, ['other', 'results']);
  } finally {
    Object.defineProperty(globalThis, 'CompressionStream', before);
  }
});
