/**
 * A link against a hub that the test plays: who it is, its state, its tools, its events.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from '../../shared/test/support/fake-clock';
import type { RunContext, Tool } from '../src/options';
import { plain } from '../src/stores';
import { callOf, FakePage, opened } from './support/fake-page';

const paint: Tool = {
  name: 'paint',
  description: 'Paints it.',
  inputSchema: {
    type: 'object',
    properties: { color: { type: 'string', enum: ['red', 'green'] } },
    required: ['color'],
  },
  run: ({ color }) => ({ painted: color }),
};

test('it introduces itself with name, version, manifest and kind', async () => {
  const { page, greet, statuses, link } = await opened({ version: '1.0', manifest: 'hello3d' });
  assert.match(page.sockets.last.url, /^ws:\/\/127\.0\.0\.1:8765\/session\/[\w-]+$/);
  const hello = greet().of('hello')[0] ?? assert.fail();
  assert.equal(hello.kind, 'app');
  assert.equal(hello.name, 'viewer');
  assert.equal(hello.version, '1.0');
  assert.ok(hello.capabilities?.includes('manifest:hello3d'));
  assert.ok(hello.capabilities?.includes('results'));
  assert.deepEqual(statuses, [{ type: 'connecting' }, { type: 'connected', session: 'viewer' }]);
  assert.deepEqual(link.status, statuses.at(-1));
});

test('the hub is the one that is named, or that serves the page, or the usual one', async () => {
  const cases = [
    [{ href: 'http://localhost:5173/' }, undefined, 'ws://127.0.0.1:8765/'],
    [{ href: 'http://localhost:9000/viewer/?x=1' }, undefined, 'ws://localhost:9000/'],
    [{ href: 'http://localhost:9000/mine/', meta: '' }, undefined, 'ws://localhost:9000/'],
    [{ meta: 'http://127.0.0.1:9001' }, undefined, 'ws://127.0.0.1:9001/'],
    [{ meta: 'http://127.0.0.1:9001' }, 'http://127.0.0.1:9002', 'ws://127.0.0.1:9002/'],
  ] as const;
  for (const [around, hub, expected] of cases) {
    const { page } = await opened(hub === undefined ? {} : { hub }, new FakePage(around));
    assert.equal(page.sockets.last.url.split('session')[0], expected);
  }
});

test('the state is told whole, then as patches, and not when nothing has changed', async () => {
  const state = { color: 'red', size: 1, long: 'x'.repeat(200) };
  const { page, link, greet } = await opened({ state: () => state });
  const socket = greet();
  assert.deepEqual(socket.of('stateUpdate')[0]?.state, state);
  state.color = 'green';
  await page.clock.advance(1000);
  link.changed();
  link.changed();
  await page.clock.advance(1000);
  const updates = socket.of('stateUpdate');
  assert.equal(updates.length, 2);
  assert.deepEqual(updates[1]?.patch, [{ op: 'replace', path: '/color', value: 'green' }]);
  assert.equal(updates[1]?.version, 2);
});

test('a thousand changes in a second are at most twenty-one updates and as few looks', async () => {
  const state = { count: 0 };
  let looks = 0;
  const read = () => {
    looks++;
    return state;
  };
  const { page, link, greet } = await opened({ state: read });
  const socket = greet();
  for (let change = 0; change < 1000; change++) {
    state.count++;
    link.changed();
    await page.clock.advance(1);
  }
  await page.clock.advance(100);
  const updates = socket.of('stateUpdate');
  assert.ok(updates.length > 10 && updates.length <= 22, `${updates.length}`);
  assert.ok(looks <= 23, `${looks}`);
  assert.match(JSON.stringify(updates.at(-1)), /1000/);
});

test('a store is subscribed to, and left on close', async () => {
  const store = plain({ items: ['a'], note: 'x'.repeat(100) });
  const { page, link, greet } = await opened({ state: store });
  const socket = greet();
  await page.clock.advance(1000);
  store.value.items.push('b');
  await page.clock.advance(1000);
  assert.deepEqual(socket.of('stateUpdate')[1]?.patch, [
    { op: 'add', path: '/items/1', value: 'b' },
  ]);
  link.close();
  store.value.items.push('c');
  await page.clock.advance(1000);
  assert.equal(socket.of('stateUpdate').length, 2);
  assert.equal(link.status.type, 'closed');
});

test('the hub gets the state when it asks, and the reason when there is none', async () => {
  let state: unknown = { a: 1 };
  const read = () => {
    if (state === undefined) throw new Error('the scene is not loaded yet');
    return state;
  };
  const { greet } = await opened({ state: read });
  const socket = greet();
  socket.say({ type: 'requestState', requestId: 'r1', forceRefresh: true });
  await settled();
  assert.deepEqual(socket.of('stateResponse')[0]?.state, { a: 1 });
  state = undefined;
  socket.say({ type: 'requestState', requestId: 'r2', forceRefresh: true });
  await settled();
  assert.equal(socket.of('stateError')[0]?.error, 'the scene is not loaded yet');
});

test('tools are announced after the welcome and again when they are replaced', async () => {
  const { link, greet } = await opened({
    tools: [paint, { ...paint, name: 'look', readOnly: true }],
  });
  const socket = greet();
  const [first] = socket.of('toolsChanged');
  assert.deepEqual(
    first?.tools.map(({ name, annotations }) => [name, annotations]),
    [
      ['paint', { readOnlyHint: false }],
      ['look', { readOnlyHint: true }],
    ],
  );
  assert.deepEqual(first?.tools[0]?.inputSchema, paint.inputSchema);
  link.setTools([{ ...paint, name: 'erase' }]);
  assert.deepEqual(
    socket.of('toolsChanged')[1]?.tools.map(({ name }) => name),
    ['erase'],
  );
  socket.say(callOf('paint', { color: 'red' }));
  await settled();
  assert.equal(socket.of('toolResult')[0]?.error?.code, 'unknown_tool');
  assert.throws(() => link.setTools([paint, paint]), /two tools have one name/);
});

test('a tool runs with checked arguments, and its errors tell the model what is valid', async () => {
  const thrower: Tool = {
    name: 'fail',
    description: 'Fails.',
    run: () => {
      throw Object.assign(new Error('the printer is out of ink'), { code: 'NO_INK' });
    },
  };
  const { greet } = await opened({ tools: [paint, thrower] });
  const socket = greet();
  const end = async (name: string, args: unknown) => {
    socket.say(callOf(name, args, `${name} ${JSON.stringify(args)}`));
    await settled();
    const { result, error } = socket.of('toolResult').at(-1) ?? assert.fail();
    return error ?? result;
  };
  assert.deepEqual(await end('paint', { color: 'red' }), { painted: 'red' });
  assert.deepEqual(await end('paint', { color: 'blue' }), {
    code: 'invalid_argument',
    message: 'color must be one of "red", "green", not "blue"',
  });
  assert.deepEqual(await end('paint', {}), {
    code: 'invalid_argument',
    message: 'color is missing',
  });
  assert.deepEqual(await end('paint', [1]), {
    code: 'invalid_argument',
    message: 'the arguments must be an object',
  });
  assert.deepEqual(await end('fail', null), {
    code: 'NO_INK',
    message: 'the printer is out of ink',
  });
  assert.deepEqual(await end('print', {}), {
    code: 'unknown_tool',
    message: 'the app has no tool print; it has paint, fail',
  });
  assert.equal(((await end('constructor', {})) as { code: string }).code, 'unknown_tool');
});

test('what only a browser can do is refused', async () => {
  const { greet } = await opened();
  const socket = greet();
  socket.say({
    type: 'openTab',
    callId: 'c1',
    url: 'https://a.example/',
    focus: false,
    deadlineMs: 1000,
  });
  await settled();
  assert.equal(socket.of('toolResult')[0]?.error?.code, 'unsupported');
});

test('commands run but are not listed', async () => {
  const seen: unknown[] = [];
  const { greet } = await opened({ commands: { changeColor: (args) => void seen.push(args) } });
  const socket = greet();
  assert.deepEqual(socket.of('toolsChanged')[0]?.tools, []);
  socket.say(callOf('changeColor', { color: '#cc0000' }));
  await settled();
  assert.deepEqual(seen, [{ color: '#cc0000' }]);
  assert.equal(socket.of('toolResult')[0]?.result, null);
});

test('a call that is sent twice runs once and is answered twice', async () => {
  let runs = 0;
  const count: Tool = { name: 'count', description: 'Counts.', run: () => ++runs };
  const { greet } = await opened({ tools: [count] });
  const socket = greet();
  socket.say(callOf('count'));
  await settled();
  socket.say(callOf('count'));
  await settled();
  assert.equal(runs, 1);
  assert.deepEqual(
    socket.of('toolResult').map(({ result }) => result),
    [1, 1],
  );
});

test('what a call has changed is told before its end, however fast calls come', async () => {
  const state = { count: 0 };
  const add: Tool = { name: 'add', description: 'Adds one.', run: () => ++state.count };
  const { greet } = await opened({ state: () => state, tools: [add] });
  const socket = greet();
  for (const callId of ['c1', 'c2', 'c3']) {
    socket.say(callOf('add', {}, callId));
    await settled();
  }
  const told = socket.sent.flatMap((message) => {
    if (message.type === 'toolResult') return [`result ${message.result}`];
    return message.type === 'stateUpdate' ? [`state ${JSON.stringify(message.state)}`] : [];
  });
  assert.deepEqual(told, [
    'state {"count":0}',
    'state {"count":1}',
    'result 1',
    'state {"count":2}',
    'result 2',
    'state {"count":3}',
    'result 3',
  ]);
});

test('a call that is withdrawn has its signal aborted, and tells progress on the way', async () => {
  let given: RunContext | undefined;
  const wait: Tool = {
    name: 'wait',
    description: 'Waits.',
    run: (_, context) => {
      given = context;
      context.progress(1, 3, 'one of three');
      return new Promise(() => {});
    },
  };
  const { page, greet } = await opened({ tools: [wait] });
  const socket = greet();
  socket.say(callOf('wait'));
  await settled();
  assert.equal(socket.of('toolProgress')[0]?.message, 'one of three');
  socket.say({ type: 'cancel', callId: 'c1' });
  assert.equal(given?.signal.aborted, true);
  await page.clock.advance(1000);
  assert.equal(socket.of('toolResult')[0]?.error?.code, 'cancelled');
});

test('events come by name, and all to the star; those of the app go out', async () => {
  const seen: unknown[] = [];
  const { link, greet } = await opened({
    events: {
      toolActivity: (data) => seen.push(data),
      '*': (data, name) => seen.push([name, data]),
    },
  });
  const socket = greet();
  socket.say({
    type: 'event',
    sequence: 1,
    name: 'toolActivity',
    level: 'info',
    data: { tool: 'x' },
  });
  socket.say({ type: 'event', sequence: 2, name: 'toString', level: 'info', data: 1 });
  assert.deepEqual(seen, [{ tool: 'x' }, ['toolActivity', { tool: 'x' }], ['toString', 1]]);
  link.emit('saved', { file: 'a' });
  link.emit('closed');
  assert.deepEqual(
    socket.of('event').map(({ name, data }) => [name, data]),
    [
      ['saved', { file: 'a' }],
      ['closed', null],
    ],
  );
});

test('a closed link says goodbye, does not come back and takes no more wishes', async () => {
  const { page, link, greet, statuses } = await opened({ state: () => 1, tools: [paint] });
  const socket = greet();
  link.close();
  link.close();
  link.changed();
  link.emit('late');
  link.setTools([]);
  await page.clock.advance(60_000);
  assert.equal(socket.sent.at(-1)?.type, 'bye');
  assert.equal(page.sockets.all.length, 1);
  assert.deepEqual(statuses.at(-1), { type: 'closed' });
});

test('errors in the app are told to it and change nothing else', async () => {
  let broken = false;
  const { page, link, greet, errors } = await opened({
    state: () => {
      if (broken) throw new Error('no scene');
      return { fine: true };
    },
    events: {
      boom: () => {
        throw new Error('in a listener');
      },
    },
  });
  const socket = greet();
  broken = true;
  await page.clock.advance(1000);
  link.changed();
  socket.say({ type: 'event', sequence: 1, name: 'boom', level: 'info', data: null });
  await page.clock.advance(1000);
  assert.deepEqual(errors.map(String).sort(), [
    'Error: in a listener',
    'PayloadError: not JSON: no scene',
  ]);
  assert.equal(link.status.type, 'connected');
});
