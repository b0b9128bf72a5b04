/**
 * What a peer remembers, and what it does with a memory that is broken.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Identity } from '../src/identity';
import { Keeper, type Memory, type Snapshot } from '../src/memory';
import { isInstanceId, socketUrl } from '../src/socket';
import { settled } from './support/fake-clock';

const kept = { instanceId: 'me', resumeToken: 't', position: { epoch: 'hub', sequence: 4 } };

function memoryOf(value: unknown): Memory & { saved: Snapshot[] } {
  const saved: Snapshot[] = [];
  return {
    saved,
    // A store returns what is in it, which need not be what the type says.
    load: () => Promise.resolve(value as Snapshot | undefined),
    save(snapshot) {
      saved.push(snapshot);
    },
  };
}

async function load(memory?: Memory, wantedId?: string, errors: unknown[] = []) {
  return Identity.load(memory, wantedId, (error) => errors.push(error));
}

test('without a memory a peer is somebody new each time', async () => {
  const [one, two] = [await load(), await load()];
  assert.ok(isInstanceId(one.instanceId));
  assert.notEqual(one.instanceId, two.instanceId);
});

test('what was kept is known again', async () => {
  const identity = await load(memoryOf(kept));
  assert.deepEqual([identity.instanceId, identity.resumeToken], ['me', 't']);
  assert.deepEqual(identity.startPosition, kept.position);
});

test('token and position belong to the name they were given to', async () => {
  const same = await load(memoryOf(kept), 'me');
  assert.equal(same.resumeToken, 't');
  const other = await load(memoryOf(kept), 'you');
  assert.deepEqual(
    [other.instanceId, other.resumeToken, other.startPosition],
    ['you', undefined, undefined],
  );
});

test('a broken memory counts as none', async () => {
  const broken = [
    null,
    'text',
    [],
    {},
    { ...kept, instanceId: 'not allowed/../' },
    { ...kept, resumeToken: 7 },
    { ...kept, position: { epoch: 'hub' } },
  ];
  for (const value of broken) {
    const identity = await load(memoryOf(value));
    assert.deepEqual([identity.resumeToken, identity.startPosition], [undefined, undefined]);
    assert.ok(isInstanceId(identity.instanceId));
  }
});

test('a memory that cannot be read is reported and counts as none', async () => {
  const errors: unknown[] = [];
  const memory = { load: () => Promise.reject(new Error('denied')), save: () => {} };
  const identity = await load(memory, undefined, errors);
  assert.equal(identity.resumeToken, undefined);
  assert.equal(errors.length, 1);
});

test('the newest token is kept', async () => {
  const memory = memoryOf(undefined);
  const identity = await load(memory, 'me');
  identity.renew('a');
  identity.renew('b');
  identity.save({ epoch: 'hub', sequence: 9 });
  assert.deepEqual(memory.saved, [
    { instanceId: 'me', resumeToken: 'b', position: { epoch: 'hub', sequence: 9 } },
  ]);
});

test('a slow memory gets one snapshot at a time, and of many only the newest', async () => {
  const saved: string[] = [];
  const waiting: (() => void)[] = [];
  const save = ({ instanceId }: Snapshot) =>
    new Promise<void>((resolve) => {
      saved.push(instanceId);
      waiting.push(resolve);
    });
  const keeper = new Keeper({ load: () => Promise.resolve(undefined), save }, () => {});
  for (const instanceId of ['a', 'b', 'c']) void keeper.save({ instanceId });
  await settled();
  assert.deepEqual(saved, ['a']);
  waiting[0]?.();
  await settled();
  assert.deepEqual(saved, ['a', 'c']);
});

test('a memory that cannot be written is reported and tried again', async () => {
  const errors: unknown[] = [];
  let tries = 0;
  const save = () => {
    tries++;
    throw new Error('full');
  };
  const keeper = new Keeper({ load: () => Promise.resolve(undefined), save }, (error) =>
    errors.push(error),
  );
  await keeper.save({ instanceId: 'a' });
  await keeper.save({ instanceId: 'b' });
  assert.deepEqual([tries, errors.length], [2, 2]);
});

test('the address is made of the hub and the name', () => {
  const cases: [string, string][] = [
    ['ws://127.0.0.1:8765', 'ws://127.0.0.1:8765/session/me'],
    ['http://127.0.0.1:8765/', 'ws://127.0.0.1:8765/session/me'],
    ['https://example.com/hub/', 'wss://example.com/hub/session/me'],
  ];
  for (const [hub, expected] of cases) assert.equal(socketUrl(hub, 'me'), expected);
  for (const hub of ['', '127.0.0.1:8765', 'ftp://x'])
    assert.throws(() => socketUrl(hub, 'me'), hub);
});
