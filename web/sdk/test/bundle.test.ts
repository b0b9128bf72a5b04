/**
 * What ships: small enough, typed, and working as it is, with its names shortened and pieces left
 * out.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { settled } from '../../shared/test/support/fake-clock';
import { buildSdk } from '../scripts/build.mjs';
import { callOf, FakePage, welcomeAt } from './support/fake-page';

const MOST_BYTES = 12 * 1024;
const folder = mkdtempSync(join('node_modules', '.cache', 'sdk-bundle-'));
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

before(() => buildSdk(folder));
after(() => rmSync(folder, { recursive: true }));

test('the module is under 12 KB as gzip sends it', () => {
  const bytes = gzipSync(read('index.js'), { level: 9 }).length;
  console.log(`index.js: ${bytes} bytes gzipped, at most ${MOST_BYTES}`);
  assert.ok(bytes < MOST_BYTES, `${bytes}`);
});

test('the types import nothing and have the public face', () => {
  const types = read('index.d.ts');
  assert.doesNotMatch(types, /^import|\bfrom '|import\(/m);
  for (const name of ['connect', 'plain', 'redux', 'signal']) {
    assert.match(types, new RegExp(`export declare function ${name}\\b`));
  }
  for (const name of ['Options', 'Tool', 'Status', 'Link', 'Store']) {
    assert.match(types, new RegExp(`export interface ${name}\\b`));
  }
});

test('the script for plain tags has the same functions', () => {
  const context: { tabwire?: Record<string, unknown> } = {};
  runInNewContext(`${read('tabwire.global.js')};globalThis.tabwire = tabwire`, context);
  assert.deepEqual(Object.keys(context.tabwire ?? {}).sort(), [
    'connect',
    'plain',
    'redux',
    'signal',
  ]);
});

test('the module works: state, a call with an error and one without, a replay, a broken frame', async () => {
  const page = new FakePage();
  Object.assign(globalThis, { window: page });
  const sdk: typeof import('../src/index') = await import(
    pathToFileURL(resolve(folder, 'index.js')).href
  );
  const store = sdk.plain({ on: false });
  const link = sdk.connect({
    name: 'lamp',
    state: store,
    manifest: 'lamp',
    tools: [
      {
        name: 'switch',
        description: 'Switches it.',
        inputSchema: { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] },
        run: ({ on }) => {
          store.value.on = on === true;
          return 'done';
        },
      },
    ],
  });
  await settled();
  const socket = page.sockets.last;
  socket.open();
  welcomeAt(socket);
  assert.deepEqual(socket.of('hello')[0]?.capabilities, ['manifest:lamp', 'results']);
  assert.equal(link.status.session, 'viewer');
  assert.deepEqual(socket.of('stateUpdate')[0]?.state, { on: false });
  socket.say(callOf('switch', { on: 'yes' }, 'c1'));
  socket.say(callOf('switch', { on: true }, 'c2'));
  await settled();
  const [bad, good] = socket.of('toolResult');
  assert.equal(bad?.error?.message, 'on must be boolean, not "yes"');
  assert.equal(good?.result, 'done');
  assert.deepEqual(socket.of('stateUpdate').at(-1)?.state, { on: true });
  const { epoch = '' } = socket.of('hello')[0] ?? assert.fail();
  socket.say({ type: 'replayRequest', from: { epoch, sequence: 0 } });
  assert.ok((socket.of('replayPage')[0]?.messages.length ?? 0) >= 3);
  socket.sayRaw('{"type":');
  assert.equal(socket.closedBy?.code, 4400);
  link.close();
  Reflect.deleteProperty(globalThis, 'window');
});
