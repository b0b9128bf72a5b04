import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shorterWay, wrapHalfTurn, wrapTurn } from '../src/math/angles';
import { fromAngles, toAngles, turnOnScreen } from '../src/math/rotation';
import { toCartesian, toSpherical } from '../src/math/spherical';
import type { Vector } from '../src/math/vector';

test('angles wrap into their range', () => {
  const turns = [
    [0, 0],
    [360, 0],
    [-10, 350],
    [725, 5],
    [359.9999999999, 0],
  ] as const;
  for (const [given, expected] of turns) assert.equal(wrapTurn(given), expected);
  const halves = [
    [180, 180],
    [-180, 180],
    [190, -170],
    [-190, 170],
    [360, 0],
  ] as const;
  for (const [given, expected] of halves) assert.equal(wrapHalfTurn(given), expected);
  assert.equal(shorterWay(350, 10), 20);
  assert.equal(shorterWay(10, 350), -20);
});

test('directions are seen from the camera: 0 away, 90 right, 180 near, 270 left', () => {
  const places: [number, number, Vector][] = [
    [0, 0, { x: 0, y: 0, z: -10 }],
    [90, 0, { x: 10, y: 0, z: 0 }],
    [180, 0, { x: 0, y: 0, z: 10 }],
    [270, 0, { x: -10, y: 0, z: 0 }],
    [123, 90, { x: 0, y: 10, z: 0 }],
  ];
  for (const [azimuth, elevation, expected] of places) {
    near(toCartesian({ azimuth, elevation, distance: 10 }), expected);
  }
});

test('where hello3d puts its lights at first reads as its page reads it', () => {
  const { azimuth, elevation, distance } = toSpherical({ x: 5, y: 3.5, z: 5 });
  assert.equal(azimuth, 135);
  assert.ok(Math.abs(elevation - 26.3) < 0.1);
  assert.ok(Math.abs(distance - 7.89) < 0.01);
  assert.equal(toSpherical({ x: -5, y: 2.5, z: 5 }).azimuth, 225);
});

test('places survive the way there and back', () => {
  for (const azimuth of [0, 33, 90, 179, 200, 359]) {
    for (const elevation of [0, 12.5, 89]) {
      const place = { azimuth, elevation, distance: 7.35 };
      const back = toSpherical(toCartesian(place));
      assert.ok(Math.abs(back.azimuth - azimuth) < 1e-6);
      assert.ok(Math.abs(back.elevation - elevation) < 1e-6);
      assert.ok(Math.abs(back.distance - 7.35) < 1e-6);
    }
  }
  assert.equal(toSpherical({ x: 0, y: 4, z: 0 }).azimuth, 0);
  assert.deepEqual(toSpherical({ x: 0, y: 0, z: 0 }), { azimuth: 0, elevation: 0, distance: 0 });
});

test('angles survive the way through a rotation', () => {
  for (const x of [-170, -30, 0, 45, 120]) {
    for (const y of [-89, -20, 0, 60, 130]) {
      for (const z of [-95, 0, 10, 175])
        near(toAngles(fromAngles({ x, y, z }), { x, y, z }), { x, y, z });
    }
  }
});

test('a rotation at a quarter turn of yaw keeps what can be seen', () => {
  for (const y of [90, -90]) {
    const there = fromAngles({ x: 20, y, z: 15 });
    const back = fromAngles(toAngles(there, { x: 0, y, z: 0 }));
    const dot = there.x * back.x + there.y * back.y + there.z * back.z + there.w * back.w;
    assert.ok(Math.abs(Math.abs(dot) - 1) < 1e-9);
  }
});

test('a drag to the side of an upright model is yaw alone, all the way round', () => {
  let rotation: Vector = { x: 0, y: 0, z: 0 };
  for (let steps = 0; steps < 10; steps += 1) rotation = turnOnScreen(rotation, 13, 0);
  near(rotation, { x: 0, y: 130, z: 0 });
  near(turnOnScreen({ x: 0, y: 0, z: 0 }, 0, 25), { x: 25, y: 0, z: 0 });
});

function near(actual: Vector, expected: Vector): void {
  for (const axis of ['x', 'y', 'z'] as const) {
    const gap = Math.abs(actual[axis] - expected[axis]);
    assert.ok(gap < 1e-6, `${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`);
  }
}
