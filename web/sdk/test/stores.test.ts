/**
 * Stores of what apps keep their state in.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from '../../shared/test/support/fake-clock';
import { plain, redux, signal } from '../src/stores';

test('a plain object tells assignments at any depth, once per task', async () => {
  const source: Record<string, unknown> = { a: 1, list: [{ done: false }] };
  const store = plain({ a: 1, list: [{ done: false }], more: source });
  let told = 0;
  const stop = store.subscribe(() => told++);
  const changes = [
    () => {
      store.value.a = 2;
      store.value.a = 3;
    },
    () => store.value.list.push({ done: true }),
    () => {
      const item = store.value.list[0];
      if (item !== undefined) item.done = true;
    },
    () => store.value.list.sort(),
    () => delete store.value.more.a,
    () => Object.assign(store.value.more, { b: 1 }),
    () => store.value.list.splice(0, 1),
    () => {
      store.value.list.length = 0;
    },
  ];
  for (const [index, change] of changes.entries()) {
    change();
    await settled();
    assert.equal(told, index + 1, `${change}`);
  }
  assert.deepEqual(JSON.parse(JSON.stringify(store.get())), {
    a: 3,
    list: [],
    more: { list: [{ done: false }], b: 1 },
  });
  stop();
  store.value.a = 9;
  await settled();
  assert.equal(told, changes.length);
});

test('a plain object keeps identity, and leaves other things alone', () => {
  const date = new Date(0);
  const frozen = Object.freeze({ inner: { x: 1 } });
  const store = plain({ list: [{ id: 1 }], date, frozen });
  assert.equal(store.value.list[0], store.value.list[0]);
  assert.equal(store.value.list.indexOf(store.value.list[0] ?? assert.fail()), 0);
  assert.equal(store.value.date.getTime(), 0);
  const [item] = store.value.list;
  for (let round = 0; round < 3; round++) store.value.list.splice(0, 1, ...store.value.list);
  assert.equal(store.value.list[0], item, 'what is put back is not wrapped again');
  assert.equal(store.value.frozen.inner.x, 1);
  assert.equal(store.get(), store.value);
});

test('two subscriptions of one function are two', async () => {
  const store = plain({ a: 1 });
  let told = 0;
  const count = () => told++;
  const stop = store.subscribe(count);
  store.subscribe(count);
  store.value.a = 2;
  await settled();
  assert.equal(told, 2);
  stop();
  store.value.a = 3;
  await settled();
  assert.equal(told, 3);
});

test('a Redux-like store is read and watched, whole or in part', () => {
  let state = { a: 1, b: 2 };
  const listeners = new Set<() => void>();
  const source = {
    getState: () => state,
    subscribe: (changed: () => void) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
  };
  let told = 0;
  const store = redux(source, ({ a }) => ({ a }));
  const stop = store.subscribe(() => told++);
  state = { a: 5, b: 2 };
  for (const listener of listeners) listener();
  assert.deepEqual([store.get(), told], [{ a: 5 }, 1]);
  assert.deepEqual(redux(source).get(), { a: 5, b: 2 });
  stop();
  assert.equal(listeners.size, 0);
});

test('a signal is read and watched, by itself or with an effect', () => {
  const runs = new Set<() => void>();
  const source = {
    value: 1,
    subscribe: (changed: () => void) => {
      runs.add(changed);
      return () => runs.delete(changed);
    },
  };
  const effect = (run: () => void) => {
    runs.add(run);
    run();
    return () => runs.delete(run);
  };
  const angular = (run: () => void) => ({ destroy: effect(run) });
  const solid = (run: () => void) => void effect(run);
  const stores = [
    signal(source),
    signal(() => source.value, effect),
    signal(() => source.value, angular),
    signal(() => source.value, solid),
  ];
  for (const store of stores) {
    let told = 0;
    const stop = store.subscribe(() => told++);
    const before = told;
    source.value++;
    for (const run of runs) run();
    assert.deepEqual([store.get(), told - before], [source.value, 1]);
    stop();
    for (const run of runs) run();
    assert.equal(told - before, 1);
    runs.clear();
  }
});
