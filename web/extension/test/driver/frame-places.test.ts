import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FrameGeometry } from '../../src/content/api';
import { inSight, moved, placesOf } from '../../src/driver/page/frame-places';
import type { Page } from '../../src/driver/page/page';

function frame(
  documentId: string,
  path: number[],
  children: Array<{ index: number; x: number; y: number; visible?: boolean }>,
  viewport: { width: number; height: number },
) {
  const all = children.map((child) => ({ visible: true, ...child, ref: child.index + 1 }));
  const value: FrameGeometry = { path, children: all, viewport };
  return { frameId: path.length, documentId, value };
}

const FRAMES = [
  frame(
    'top',
    [],
    [
      { index: 0, x: 10, y: 500 },
      { index: 1, x: 10, y: 2_000 },
      { index: 2, x: 10, y: 10, visible: false },
    ],
    { width: 1_000, height: 800 },
  ),
  frame('near', [0], [{ index: 0, x: 0, y: 250 }], { width: 400, height: 600 }),
  frame('far', [1], [], { width: 400, height: 300 }),
  frame('hidden', [2], [], { width: 400, height: 300 }),
  frame('deep', [0, 0], [], { width: 100, height: 100 }),
];

// Only what is asked of a page here.
const page = { read: () => Promise.resolve(FRAMES) } as unknown as Page;

test('a frame shows what it and the frames around it show', async () => {
  const places = await placesOf(page);
  assert.deepEqual(
    places.map(({ documentId, offset, clip }) => [documentId, offset, clip]),
    [
      ['top', { x: 0, y: 0 }, { x: 0, y: 0, width: 1_000, height: 800 }],
      ['near', { x: 10, y: 500 }, { x: 0, y: 0, width: 400, height: 300 }],
      ['far', { x: 10, y: 2_000 }, { x: 0, y: 0, width: 400, height: 0 }],
      ['deep', { x: 10, y: 750 }, { x: 0, y: 0, width: 100, height: 50 }],
    ],
  );
  assert.deepEqual(
    inSight(places).map(({ documentId }) => documentId),
    ['top', 'near', 'deep'],
  );
});

test('a part of the page beyond the viewport reaches frames there', async () => {
  const places = inSight(await placesOf(page, { x: 0, y: 1_900, width: 1_000, height: 200 }));
  assert.deepEqual(
    places.map(({ documentId, clip }) => [documentId, clip]),
    [
      ['top', { x: 0, y: 1_900, width: 1_000, height: 200 }],
      ['far', { x: 0, y: 0, width: 400, height: 100 }],
    ],
  );
});

test('boxes are moved to where their frame is', () => {
  const box = { x: 5, y: 6, width: 10, height: 20 };
  assert.deepEqual(moved(box, { x: 10.4, y: 750.2 }), { x: 15, y: 756, width: 10, height: 20 });
});
