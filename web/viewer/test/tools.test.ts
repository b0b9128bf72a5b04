import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandsFor } from '../src/link';
import { readPageAddress } from '../src/page-address';
import { INITIAL_STATE } from '../src/state';
import { Store } from '../src/store';
import { toolsFor } from '../src/tools';
import type { Room } from '../src/tools/tool';
import { sayCall, sayReading } from '../src/ui/words';

const CONTEXT = { signal: new AbortController().signal, progress: () => {} };

test('the tools have the names that clients know, and schemas', () => {
  const tools = toolsFor(room());
  assert.deepEqual(
    tools.map(({ name }) => name),
    [
      'load_model',
      'list_models',
      'reset_view',
      'set_light_size',
      'undo',
      'redo',
      'viewer_screenshot',
    ],
  );
  for (const { inputSchema } of tools) assert.equal(inputSchema?.additionalProperties, false);
});

test('load_model shows nothing that was withdrawn while it loaded', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const there: Room = {
    ...room(),
    fetchModel: async (source) => {
      controller.abort(new Error('withdrawn'));
      return { name: 'late', source, color: '#ffffff' };
    },
  };
  const loading = run(there, 'load_model', { url: '/late.glb' }, { ...CONTEXT, signal });
  await assert.rejects(loading, /withdrawn/);
  assert.equal(there.store.state, INITIAL_STATE);
});

test('load_model shows built-in models and addresses, and can be undone', async () => {
  const there = room();
  await run(there, 'load_model', { builtin: 'teapot' });
  assert.equal(there.store.state.model.source, 'builtin:teapot');
  await run(there, 'load_model', { url: '/models/chair.glb' });
  assert.equal(there.store.state.model.name, 'chair.glb');
  assert.equal(there.store.state.model.color, '#ffffff');
  assert.deepEqual(
    [...there.store.sources],
    ['builtin:knot', 'builtin:teapot', '/models/chair.glb'],
  );
  await run(there, 'undo', { steps: 2 });
  assert.deepEqual(there.store.state, INITIAL_STATE);
});

test('load_model refuses what it cannot show and lists what it can', async () => {
  await refuse('load_model', {}, /either `builtin` \(one of knot, teapot, robot\) or `url`/);
  await refuse('load_model', { builtin: 'knot', url: '/a.glb' }, /give either/);
  await refuse('load_model', { builtin: 'cow' }, /must be one of knot, teapot, robot, not "cow"/);
  await refuse('load_model', { url: '/missing.glb' }, /answers with status 404/);
  await refuse('load_model', { name: 'knot' }, /no argument `name`; it takes `builtin`, `url`/);
});

test('list_models names the built-in models and the one that is shown', async () => {
  assert.deepEqual(await run(room(), 'list_models', {}), {
    builtin: ['knot', 'teapot', 'robot'].map((name) => ({ name, description: `a ${name}` })),
    shown: { name: 'knot', source: 'builtin:knot' },
  });
});

test('reset_view resets the view, or all but the model', async () => {
  const there = room();
  const { store } = there;
  await run(there, 'load_model', { builtin: 'robot' });
  store.change({ type: 'background', color: '#ffffff' }, 'hand');
  store.change({ type: 'camera', set: { fov: 3 } }, 'hand');
  await run(there, 'reset_view', {});
  assert.equal(store.state.camera.fov, 1);
  assert.equal(store.state.background, '#ffffff');
  await run(there, 'reset_view', { what: 'all' });
  assert.equal(store.state.background, INITIAL_STATE.background);
  assert.equal(store.state.model.name, 'robot');
  assert.equal(store.state.model.color, '#808080');
  await run(there, 'load_model', { url: '/chair.glb' });
  store.change({ type: 'color', color: '#123456' }, 'hand');
  await run(there, 'reset_view', { what: 'all' });
  assert.equal(store.state.model.color, '#ffffff');
  await refuse('reset_view', { what: 'lights' }, /one of view, all, not "lights"/);
});

test('undo and redo say when there is nothing, and refuse bad steps', async () => {
  const there = room();
  await refuse('undo', {}, /there is nothing to undo/);
  await refuse('redo', {}, /there is nothing to redo/);
  await refuse('undo', { steps: 0 }, /a whole number from 1 to 100, not 0/);
  await refuse('undo', { steps: 1.5 }, /a whole number/);
  there.store.change({ type: 'color', color: '#000000' }, 'hand');
  assert.deepEqual(await run(there, 'undo', { steps: 7 }), {
    ok: true,
    undone: 1,
    left: { undo: 0, redo: 1 },
  });
  assert.deepEqual(await run(there, 'redo', {}), { ok: true, left: { undo: 1, redo: 0 } });
});

test('set_light_size sets one light and keeps to its limits', async () => {
  const there = room();
  await run(there, 'set_light_size', { light: 'fill', width: 2, height: 3 });
  assert.deepEqual(there.store.state.fillLight.size, { width: 2, height: 3 });
  assert.deepEqual(there.store.state.keyLight.size, INITIAL_STATE.keyLight.size);
  await refuse(
    'set_light_size',
    { light: 'rim', width: 1, height: 0 },
    /one of key, fill.*0.1 to 50/,
  );
});

test('viewer_screenshot returns an image and refuses sizes that are too large', async () => {
  assert.deepEqual(await run(room(), 'viewer_screenshot', { width: 320 }), {
    image: { mimeType: 'image/png', data: '{"width":320}' },
  });
  await refuse('viewer_screenshot', { height: 9000 }, /a whole number from 64 to 2048, not 9000/);
});

test('a command answers, changes the state and is told to the page; a refused one is not', () => {
  const store = new Store(INITIAL_STATE);
  const told: string[] = [];
  const commands = commandsFor(store, { onAct: ({ words }) => told.push(words) });
  assert.deepEqual(commands.changeColor?.({ color: '#cc0000' }, CONTEXT), { ok: true });
  assert.equal(store.state.model.color, '#cc0000');
  const far = commands.dollyCameraOut?.({ amount: 99 }, CONTEXT);
  assert.deepEqual(far, { ok: true, note: 'the distance stopped at 64; it goes from 8 to 64' });
  assert.throws(() => commands.dollyCamera?.({ distance: 99 }, CONTEXT), /from 8 to 64, not 99/);
  assert.deepEqual(told, ['change model color: #cc0000', 'dolly camera out: 99']);
});

test('what a client does is said in words', () => {
  const said = sayCall('moveKeyLightTowardDirection', { direction: 90, degrees: 10 });
  assert.deepEqual(said, { words: 'move key light toward direction: 90°, 10°' });
  assert.deepEqual(sayCall('increaseCameraFOV', {}), { words: 'increase camera field of view' });
  assert.deepEqual(sayReading('get_model_color'), { words: 'look at model color' });
  assert.equal(sayReading('change_model_color'), undefined);
});

test('the address of the page says who it is', () => {
  assert.deepEqual(readPageAddress(''), { name: 'viewer' });
  assert.deepEqual(readPageAddress('?name=left&sessionId=abc&hub=http://127.0.0.1:9&model=robot'), {
    name: 'left',
    instanceId: 'abc',
    hub: 'http://127.0.0.1:9',
    model: 'robot',
  });
});

function room(): Room {
  return {
    store: new Store(INITIAL_STATE),
    builtin: (name) => ({ name, source: `builtin:${name}`, color: '#808080' }),
    fetchModel: async (address) => {
      if (address.includes('missing')) throw new Error(`${address} answers with status 404`);
      return { name: address.split('/').pop() ?? '', source: address, color: '#ffffff' };
    },
    describeBuiltin: (name) => `a ${name}`,
    picture: (size) => JSON.stringify(size),
  };
}

async function run(
  there: Room,
  name: string,
  args: Record<string, unknown>,
  context = CONTEXT,
): Promise<unknown> {
  const tool = toolsFor(there).find((one) => one.name === name) ?? assert.fail(name);
  return tool.run(args, context);
}

async function refuse(name: string, args: Record<string, unknown>, words: RegExp): Promise<void> {
  await assert.rejects(run(room(), name, args), words);
}
