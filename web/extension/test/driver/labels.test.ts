import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Box } from '../../src/content/api';
import { spread } from '../../src/driver/reading/labels';

const PICTURE = { width: 400, height: 300 };

function place(boxes: readonly Box[]) {
  const labels = boxes.map((box, at) => ({ text: `e${at}`, box }));
  return spread(
    labels,
    PICTURE,
    (box) => box,
    () => 20,
  );
}

test('a label is above its element, and within the picture', () => {
  const [low, high] = place([
    { x: 100, y: 100, width: 80, height: 20 },
    { x: 10, y: 2, width: 80, height: 20 },
  ]);
  assert.deepEqual(low?.spot, { x: 100, y: 90, width: 24, height: 13 });
  assert.deepEqual(high?.spot, { x: 10, y: 0, width: 24, height: 13 });
});

test('labels never lie over each other, and those without room are left out', () => {
  const crowd = Array.from({ length: 100 }, (_, at) => ({
    x: 100 + (at % 10) * 6,
    y: 100 + Math.floor(at / 10) * 6,
    width: 6,
    height: 6,
  }));
  const spots = place(crowd).map(({ spot }) => spot);
  assert.ok(spots.length > 5 && spots.length < 60, String(spots.length));
  for (const [at, one] of spots.entries()) {
    for (const other of spots.slice(at + 1)) {
      const isApart =
        one.x + one.width <= other.x ||
        other.x + other.width <= one.x ||
        one.y + one.height <= other.y ||
        other.y + other.height <= one.y;
      assert.ok(isApart, `${JSON.stringify(one)} and ${JSON.stringify(other)}`);
    }
  }
});

test('no more than 200 are drawn', () => {
  const labels = Array.from({ length: 500 }, (_, at) => ({
    text: 'e1',
    box: { x: (at % 20) * 100, y: 20 + Math.floor(at / 20) * 40, width: 50, height: 20 },
  }));
  const large = { width: 4000, height: 4000 };
  assert.equal(
    spread(
      labels,
      large,
      (box) => box,
      () => 20,
    ).length,
    200,
  );
});
