import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dragLight, dragModel, narrowBy, sideOf, zoomBy } from '../src/controls/gestures';
import { between } from '../src/scene/blend';
import { apply, INITIAL_STATE, type ViewerState } from '../src/state';

test('a drag to the right turns the model to the right', () => {
  const { model } = apply(INITIAL_STATE, dragModel(INITIAL_STATE, { x: 100, y: 0 }));
  assert.deepEqual(model.rotation, { x: 0, y: 40, z: 0 });
});

test('a light follows the hand, in front of the model and behind it', () => {
  const check = (azimuth: number, expected: number) => {
    const state = withKeyLight(azimuth);
    const change = dragLight(state, 'key', { x: 100, y: -10 }, sideOf(state, 'key'));
    const { position } = apply(state, change).keyLight;
    assert.equal(position.azimuth, expected);
    assert.equal(position.elevation, state.keyLight.position.elevation + 3);
  };
  check(180, 150);
  check(0, 30);
});

test('zooming moves the camera and stops at the limits', () => {
  const { distance, fov } = INITIAL_STATE.camera;
  assert.equal(apply(INITIAL_STATE, zoomBy(INITIAL_STATE, 2)).camera.distance, distance / 2);
  assert.equal(apply(INITIAL_STATE, zoomBy(INITIAL_STATE, 0.001)).camera.distance, 64);
  assert.equal(apply(INITIAL_STATE, narrowBy(INITIAL_STATE, 1.5)).camera.fov, fov * 1.5);
});

test('a movement starts where it was, ends where it should and goes the shorter way', () => {
  const from = apply(withKeyLight(350), { type: 'color', color: '#000000' });
  const to = apply(withKeyLight(20), { type: 'color', color: '#ff8040' });
  assert.equal(between(from, to, 1), to);
  const half = between(from, to, 0.5);
  assert.equal(half.keyLight.position.azimuth, 365);
  assert.equal(half.model.color, '#804020');
  assert.deepEqual(between(from, to, 0).keyLight, from.keyLight);
});

function withKeyLight(azimuth: number): ViewerState {
  return apply(INITIAL_STATE, { type: 'light', light: 'key', set: { position: { azimuth } } });
}
