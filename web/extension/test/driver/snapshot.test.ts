import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compose, type SnapshotPart } from '../../src/driver/reading/snapshot';

interface Given {
  readonly n: number;
  readonly path?: number[];
  readonly nodes: unknown[][];
  readonly frames?: Array<{ index: number; ref: number; depth: number }>;
}

function part({ n, path = [], nodes, frames = [] }: Given): SnapshotPart {
  const text = JSON.stringify(nodes);
  const of = { url: `/${n}`, title: 'T', truncated: false };
  return {
    n,
    documentId: `D${n}`,
    snapshot: { ...of, path, nodes: text, count: nodes.length, frames },
  };
}

function read(root: SnapshotPart, parts: SnapshotPart[] = [], maxNodes = 100) {
  return JSON.parse(compose({ url: '/1', title: 'T' }, root, parts, maxNodes).json);
}

test('a page without frames is its own nodes, each with its document', () => {
  const nodes = [
    [1, 0, 'heading', 'Hi', null, ['level=1']],
    [0, 1, 'text', 'Hi'],
    [2, 0, 'textbox', '', 'value'],
  ];
  assert.deepEqual(read(part({ n: 3, nodes })), {
    format: 'snapshot.v1',
    url: '/1',
    title: 'T',
    documents: [{ n: 3, documentId: 'D3', parent: null, url: '/3' }],
    nodes: nodes.map((node) => [3, ...node]),
    truncated: false,
  });
});

test('text that looks like a node stays as it is', () => {
  const names = ['[1,2,', '[1,2,"button"', '],[1,2,"a', '\\[1,2,"a', '"[1,2,"', '[1,2,\\'];
  const nodes = names.flatMap((name) => [
    [0, 0, 'text', name],
    [5, 1, 'textbox', name, name, [name]],
  ]);
  assert.deepEqual(
    read(part({ n: 7, nodes })).nodes,
    nodes.map((node) => [7, ...node]),
  );
});

const TOP = part({
  n: 1,
  nodes: [
    [0, 0, 'text', '[1,2,0,"iframe"'],
    [2, 0, 'iframe', 'a ] "b"', null, ['focused']],
    [3, 2, 'iframe', ''],
    [4, 0, 'button', 'End'],
  ],
  frames: [
    { index: 1, ref: 2, depth: 0 },
    { index: 0, ref: 3, depth: 2 },
  ],
});
const FIRST = part({
  n: 5,
  path: [1],
  nodes: [[1, 0, 'iframe', '']],
  frames: [{ index: 0, ref: 1, depth: 0 }],
});
const SECOND = part({ n: 6, path: [0], nodes: [[1, 1, 'link', 'L']] });
const DEEP = part({ n: 7, path: [1, 0], nodes: [[1, 0, 'button', 'D']] });

test('frames come right after their iframe, deeper by one', () => {
  const { nodes, documents } = read(TOP, [TOP, FIRST, SECOND, DEEP]);
  assert.deepEqual(
    nodes.map(([doc, ref, depth]: number[]) => `${doc}:${ref} ${depth}`),
    ['1:0 0', '1:2 0', '5:1 1', '7:1 2', '1:3 2', '6:1 4', '1:4 0'],
  );
  assert.deepEqual(
    documents.map(({ n, parent }: { n: number; parent: number | null }) => [n, parent]),
    [
      [1, null],
      [5, 1],
      [7, 5],
      [6, 1],
    ],
  );
});

test('a part of a frame takes only the frames below it', () => {
  const { nodes } = read(FIRST, [TOP, FIRST, SECOND, DEEP]);
  assert.deepEqual(
    nodes.map(([doc, ref]: number[]) => `${doc}:${ref}`),
    ['5:1', '7:1'],
  );
});

test('an empty frame adds no nodes', () => {
  const empty = part({ n: 9, path: [0], nodes: [] });
  assert.equal(read(TOP, [empty]).nodes.length, 4);
});

test('a frame that would be too much is left out, and that is said', () => {
  const snapshot = read(TOP, [FIRST, SECOND, DEEP], 5);
  assert.equal(snapshot.nodes.length, 5);
  assert.equal(snapshot.truncated, true);
});

test('a page and frames that are being parsed are said to be loading', () => {
  const nodes = [
    [1, 0, 'iframe', 'one'],
    [2, 0, 'iframe', 'two', 'value', ['focused']],
  ];
  const frames = [
    { index: 0, ref: 1, depth: 0 },
    { index: 1, ref: 2, depth: 0 },
  ];
  const loading = (given: SnapshotPart): SnapshotPart => ({
    ...given,
    snapshot: { ...given.snapshot, loading: true },
  });
  const top = part({ n: 1, nodes, frames });
  const inner = [0, 1].map((index) => part({ n: index + 2, path: [index], nodes: [] }));
  assert.equal(read(top, inner).loading, undefined);
  assert.equal(read(loading(top), inner).loading, true);
  assert.deepEqual(read(top, inner.map(loading)).nodes, [
    [1, 1, 0, 'iframe', 'one', null, ['loading']],
    [1, 2, 0, 'iframe', 'two', 'value', ['focused', 'loading']],
  ]);
});
