import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apply, type Change, INITIAL_STATE, type ViewerState } from '../src/state';

test('a change that changes nothing returns the same object', () => {
  const same: Change[] = [
    { type: 'color', color: INITIAL_STATE.model.color },
    { type: 'rotation', rotation: { x: 360, y: -360, z: 0 } },
    { type: 'light', light: 'key', set: {} },
    { type: 'camera', set: {} },
    { type: 'view', of: INITIAL_STATE },
  ];
  for (const change of same) assert.equal(apply(INITIAL_STATE, change), INITIAL_STATE, change.type);
});

test('the state before a change stays as it was', () => {
  const before = structuredClone(INITIAL_STATE);
  apply(INITIAL_STATE, { type: 'light', light: 'fill', set: { position: { azimuth: 7 } } });
  apply(INITIAL_STATE, { type: 'scale', scale: { x: 2, y: 2, z: 2 } });
  assert.deepEqual(INITIAL_STATE, before);
});

test('a change of one light keeps its other parts and the other light', () => {
  const after = apply(INITIAL_STATE, {
    type: 'light',
    light: 'fill',
    set: { position: { azimuth: -90 }, size: { width: 3, height: 2 } },
  });
  assert.deepEqual(after.fillLight, {
    ...INITIAL_STATE.fillLight,
    position: { ...INITIAL_STATE.fillLight.position, azimuth: 270 },
    size: { width: 3, height: 2 },
  });
  assert.equal(after.keyLight, INITIAL_STATE.keyLight);
});

test('values beyond a limit are brought to it', () => {
  const state = applyAll([
    { type: 'scale', scale: { x: 0, y: 1000, z: 1 } },
    { type: 'camera', set: { distance: 1, fov: 99 } },
    { type: 'light', light: 'key', set: { intensity: -3, position: { elevation: -20 } } },
  ]);
  assert.deepEqual(state.model.scale, { x: 0.01, y: 100, z: 1 });
  assert.deepEqual(state.camera, { distance: 8, fov: 5 });
  assert.equal(state.keyLight.intensity, 0);
  assert.equal(state.keyLight.position.elevation, 0);
});

test('numbers carry no noise and no minus zero', () => {
  let state = INITIAL_STATE;
  for (let times = 0; times < 3; times += 1) {
    const { distance } = state.camera;
    state = apply(state, { type: 'camera', set: { distance: distance - 0.1 } });
  }
  assert.equal(state.camera.distance, INITIAL_STATE.camera.distance - 0.3);
  const turned = apply(state, { type: 'rotation', rotation: { x: -0, y: -360, z: 5 } });
  assert.ok(Object.is(turned.model.rotation.x, 0));
  assert.ok(Object.is(turned.model.rotation.y, 0));
});

test('resetting the view keeps model, colours and lights', () => {
  const changed = applyAll([
    { type: 'color', color: '#123456' },
    { type: 'rotation', rotation: { x: 1, y: 2, z: 3 } },
    { type: 'camera', set: { fov: 2 } },
    { type: 'background', color: '#abcdef' },
  ]);
  const reset = apply(changed, { type: 'view', of: INITIAL_STATE });
  assert.deepEqual(reset.camera, INITIAL_STATE.camera);
  assert.deepEqual(reset.model.rotation, INITIAL_STATE.model.rotation);
  assert.equal(reset.model.color, '#123456');
  assert.equal(reset.background, '#abcdef');
});

function applyAll(changes: readonly Change[]): ViewerState {
  return changes.reduce(apply, INITIAL_STATE);
}
