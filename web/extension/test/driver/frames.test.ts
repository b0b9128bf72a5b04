import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FrameGeometry } from '../../src/content/api';
import { hidingStep, offsetOf, stepsTo } from '../../src/driver/page/frames';

function frame(
  documentId: string,
  path: number[],
  children: Array<{ index: number; x: number; y: number }>,
  viewport = { width: 1000, height: 800 },
) {
  const all = children.map((child) => ({ ...child, ref: child.index + 1, visible: true }));
  const value: FrameGeometry = { path, children: all, viewport };
  return { frameId: path.length, documentId, value };
}

const FRAMES = [
  frame(
    'top',
    [],
    [
      { index: 0, x: 10, y: 900 },
      { index: 1, x: 300, y: 20 },
    ],
  ),
  frame('left', [0], [], { width: 400, height: 300 }),
  frame('right', [1], [{ index: 0, x: 5, y: 6 }], { width: 400, height: 300 }),
  frame('deep', [1, 0], [], { width: 100, height: 100 }),
];

function steps(documentId: string) {
  return stepsTo(documentId, FRAMES) ?? assert.fail(`no way to ${documentId}`);
}

test('offsets add up along the way down', () => {
  assert.deepEqual(offsetOf(steps('top')), { x: 0, y: 0 });
  assert.deepEqual(offsetOf(steps('right')), { x: 300, y: 20 });
  assert.deepEqual(offsetOf(steps('deep')), { x: 305, y: 26 });
});

test('a document that did not answer, or whose parent did not, has no place', () => {
  assert.equal(stepsTo('gone', FRAMES), undefined);
  assert.equal(
    stepsTo(
      'deep',
      FRAMES.filter(({ documentId }) => documentId !== 'right'),
    ),
    undefined,
  );
});

test('the outermost frame that does not show the point is found', () => {
  assert.equal(hidingStep(steps('deep'), { x: 50, y: 50 }), undefined);
  assert.equal(hidingStep(steps('left'), { x: 50, y: 50 })?.documentId, 'top');
  assert.equal(hidingStep(steps('deep'), { x: 50, y: 400 })?.documentId, 'right');
});
