/**
 * Patches, checked by applying them with the plain rules of RFC 6902.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diff, type Operation } from '../src/json-patch';
import { isRecord } from '../src/values';
import { seeded } from './support/random';

test('patches say what changed and no more', () => {
  const cases: [unknown, unknown, Operation[]][] = [
    [{ a: 1 }, { a: 1 }, []],
    [1, 2, [{ op: 'replace', path: '', value: 2 }]],
    [{ a: 1 }, [1], [{ op: 'replace', path: '', value: [1] }]],
    [{ a: null }, {}, [{ op: 'remove', path: '/a' }]],
    [{}, { a: null }, [{ op: 'add', path: '/a', value: null }]],
    [{ a: { b: [1, 2] } }, { a: { b: [1, 3] } }, [{ op: 'replace', path: '/a/b/1', value: 3 }]],
    [[1, 2, 3], [1, 3], [{ op: 'remove', path: '/1' }]],
    [[1, 3], [1, 2, 3], [{ op: 'add', path: '/1', value: 2 }]],
    [
      [1],
      [1, 2, 3],
      [
        { op: 'add', path: '/1', value: 2 },
        { op: 'add', path: '/2', value: 3 },
      ],
    ],
    [
      [1, 2, 3],
      [],
      [
        { op: 'remove', path: '/2' },
        { op: 'remove', path: '/1' },
        { op: 'remove', path: '/0' },
      ],
    ],
    [
      { 'a/b': 1, '~c': 1 },
      { 'a/b': 2, '~c': 2 },
      [
        { op: 'replace', path: '/a~1b', value: 2 },
        { op: 'replace', path: '/~0c', value: 2 },
      ],
    ],
    [{ '': { '': 1 } }, { '': { '': 2 } }, [{ op: 'replace', path: '//', value: 2 }]],
  ];
  for (const [before, after, expected] of cases) assert.deepEqual(diff(before, after), expected);
});

test('keys that objects inherit are ordinary keys', () => {
  const before: unknown = JSON.parse('{"a":1}');
  const after: unknown = JSON.parse('{"__proto__":1,"constructor":2}');
  assert.equal(JSON.stringify(apply(before, diff(before, after))), JSON.stringify(after));
});

test('whatever two random values are, the patch makes one into the other', () => {
  const random = seeded(7);
  for (let round = 0; round < 3000; round++) {
    const before = randomValue(random, 4);
    const after = random() < 0.5 ? changed(before, random) : randomValue(random, 4);
    const operations = diff(before, after);
    assert.deepEqual(apply(structuredClone(before), operations), after);
    assert.equal(operations.length === 0, JSON.stringify(before) === JSON.stringify(after));
  }
});

function randomValue(random: () => number, depth: number): unknown {
  const size = Math.floor(random() * 4);
  const kind = random();
  if (depth === 0 || kind < 0.3) return [null, true, 'x', Math.floor(random() * 3)][size];
  if (kind < 0.65) return Array.from({ length: size }, () => randomValue(random, depth - 1));
  const keys = ['a', 'b/c', '~d', ''].slice(0, size);
  return Object.fromEntries(keys.map((key) => [key, randomValue(random, depth - 1)]));
}

/** Changes a value here and there, as an app changes its state. */
function changed(value: unknown, random: () => number): unknown {
  if (random() < 0.1) return randomValue(random, 2);
  if (Array.isArray(value)) {
    const items = value.map((item) => changed(item, random));
    if (random() < 0.3) items.splice(Math.floor(random() * items.length), 1);
    if (random() < 0.3) items.splice(Math.floor(random() * items.length), 0, 'new');
    return items;
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, changed(item, random)]),
  );
}

/** Applies a patch strictly: what must exist must exist. */
function apply(document: unknown, operations: Operation[]): unknown {
  const root = { '': document };
  for (const operation of operations) {
    const steps = operation.path
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = steps.pop() ?? '';
    let at: unknown = root;
    for (const step of steps)
      at = Array.isArray(at) ? at[Number(step)] : isRecord(at) ? at[step] : assert.fail();
    if (Array.isArray(at)) applyToList(at, Number(last), operation);
    else if (isRecord(at)) applyToObject(at, last, operation);
    else assert.fail(`nothing at ${operation.path}`);
  }
  return root[''];
}

function applyToList(list: unknown[], at: number, operation: Operation): void {
  assert.ok(at >= 0 && at < list.length + (operation.op === 'add' ? 1 : 0), operation.path);
  if (operation.op === 'remove') list.splice(at, 1);
  else list.splice(at, operation.op === 'add' ? 0 : 1, operation.value);
}

function applyToObject(object: Record<string, unknown>, key: string, operation: Operation): void {
  assert.equal(Object.hasOwn(object, key), operation.op !== 'add', operation.path);
  if (operation.op === 'remove') delete object[key];
  else
    Object.defineProperty(object, key, {
      value: operation.value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
}
