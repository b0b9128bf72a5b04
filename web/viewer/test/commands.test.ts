import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../src/commands';
import { apply, INITIAL_STATE, type ViewerState } from '../src/state';

const START: ViewerState = {
  ...INITIAL_STATE,
  keyLight: {
    ...INITIAL_STATE.keyLight,
    position: { azimuth: 45, elevation: 23, distance: 7.68 },
  },
  fillLight: {
    ...INITIAL_STATE.fillLight,
    position: { azimuth: 355, elevation: 88, distance: 1.2 },
  },
  camera: { distance: 32, fov: 1 },
};

test('commands for the model and the background', () => {
  check('changeColor', { color: '#CC00FF' }, (state) => state.model.color, '#cc00ff');
  check('changeSize', { size: 2.5 }, scale, { x: 2.5, y: 2.5, z: 2.5 });
  check('scaleModel', { x: 1, y: 2, z: 0.5 }, scale, { x: 1, y: 2, z: 0.5 });
  check('setModelRotation', { x: 0, y: -90, z: 12.5 }, rotation, { x: 0, y: -90, z: 12.5 });
  check('setModelRotation', { x: 540, y: 190, z: -180 }, rotation, { x: 180, y: -170, z: 180 });
  check('rotateModelClockwise', { degrees: 30 }, rotation, { x: 0, y: -30, z: 0 });
  check('rotateModelClockwise', {}, rotation, { x: 0, y: -10, z: 0 });
  check('rotateModelCounterclockwise', { degrees: 200 }, rotation, { x: 0, y: -160, z: 0 });
  check('nudgeModelPitchUp', {}, rotation, { x: 5, y: 0, z: 0 });
  check('nudgeModelPitchDown', { degrees: 1.5 }, rotation, { x: -1.5, y: 0, z: 0 });
  check('nudgeModelRoll', {}, rotation, { x: 0, y: 0, z: 5 });
  check('nudgeModelRoll', { degrees: -7 }, rotation, { x: 0, y: 0, z: -7 });
  check('changeBackgroundColor', { color: '#000000' }, (state) => state.background, '#000000');
});

test('commands for the lights', () => {
  check('setKeyLightIntensity', { intensity: 0 }, (state) => state.keyLight.intensity, 0);
  check('setFillLightColor', { color: '#73fdff' }, (state) => state.fillLight.color, '#73fdff');
  check('setKeyLightPositionSpherical', { azimuth: 360, elevation: 90 }, key, [0, 90, 7.68]);
  check('setKeyLightDistance', { distance: 4 }, key, [45, 23, 4]);
  check('swingKeyLightUp', {}, key, [45, 33, 7.68]);
  check('swingKeyLightDown', {}, key, [45, 13, 7.68]);
  check('swingKeyLightLeft', {}, key, [55, 23, 7.68]);
  check('swingKeyLightRight', {}, key, [35, 23, 7.68]);
  check('walkKeyLightIn', {}, key, [45, 23, 6.68]);
  check('walkKeyLightOut', {}, key, [45, 23, 8.68]);
  check('rotateKeyLightClockwise', { degrees: 50 }, key, [355, 23, 7.68]);
  check('rotateFillLightCounterclockwise', {}, fill, [5, 88, 1.2]);
  check('nudgeKeyLightElevationUp', {}, key, [45, 28, 7.68]);
  check('nudgeKeyLightElevationDown', { degrees: 8 }, key, [45, 15, 7.68]);
});

test('a light moves toward a direction by the shorter way and not past it', () => {
  check('moveKeyLightTowardDirection', { direction: 315, degrees: 20 }, key, [25, 23, 7.68]);
  check('moveKeyLightTowardDirection', { direction: 360 }, key, [35, 23, 7.68]);
  check('moveKeyLightTowardDirection', { direction: 50 }, key, [50, 23, 7.68]);
  check('moveFillLightTowardDirection', { direction: 90, degrees: 20 }, fill, [15, 88, 1.2]);
});

test('commands for the camera', () => {
  check('dollyCamera', { distance: 8 }, camera, [8, 1]);
  check('dollyCameraIn', {}, camera, [31.9, 1]);
  check('dollyCameraOut', { amount: 3 }, camera, [35, 1]);
  check('setCameraFOV', { fov: 5 }, camera, [32, 5]);
  check('increaseCameraFOV', {}, camera, [32, 1.02]);
  check('decreaseCameraFOV', { amount: 0.25 }, camera, [32, 0.75]);
});

test('relative moves stop at the limits and say so', () => {
  checkStop('nudgeFillLightElevationUp', {}, fill, [355, 90, 1.2], /stopped at 90; .* 0 to 90/);
  checkStop('swingFillLightUp', {}, fill, [355, 90, 1.2], /stopped at 90/);
  checkStop('walkFillLightIn', {}, fill, [355, 88, 0.5], /stopped at 0.5; .* 0.5 to 100/);
  checkStop('dollyCameraOut', { amount: 100 }, camera, [64, 1], /stopped at 64; .* 8 to 64/);
  checkStop('decreaseCameraFOV', { amount: 9 }, camera, [32, 0.5], /stopped at 0.5; .* 0.5 to 5/);
});

test('every command refuses bad values and says what is valid', () => {
  refuse('changeColor', {}, '`color` is missing: it must be a colour as #rrggbb');
  refuse('changeColor', { color: 'red' }, '`color` must be a colour as #rrggbb, not "red"');
  refuse('changeColor', { colour: '#ffffff' }, 'there is no argument `colour`; it takes `color`');
  refuse('changeBackgroundColor', { color: 7 }, '`color` must be a colour as #rrggbb, not 7');
  refuse('changeSize', { size: 0 }, '`size` must be a number from 0.01 to 100, not 0');
  refuse('scaleModel', { x: 1, y: -1 }, '`y` must be a number from 0.01 to 100, not -1; `z` is');
  refuse('setModelRotation', { x: 0, y: 0, z: 'up' }, '`z` must be a number, not "up"');
  refuse('rotateModelClockwise', { degrees: -10 }, '`degrees` must be a number above 0, not -10');
  refuse('nudgeModelRoll', { degrees: Number.NaN }, '`degrees` must be a number');
  refuse('setKeyLightIntensity', { intensity: -1 }, 'a number from 0 to 1000, not -1');
  refuse('setFillLightColor', { color: '#12' }, 'a colour as #rrggbb');
  refuse('setKeyLightPositionSpherical', { azimuth: 361, elevation: 0 }, 'from 0 to 360');
  refuse('setFillLightPositionSpherical', { azimuth: 0, elevation: 91 }, 'from 0 to 90, not 91');
  refuse('setKeyLightDistance', { distance: 0 }, 'from 0.5 to 100, not 0');
  refuse('moveKeyLightTowardDirection', { degrees: 5 }, '`direction` is missing');
  refuse('swingKeyLightUp', { degrees: 5 }, 'there is no argument `degrees`; it takes none');
  refuse('dollyCamera', { distance: 100 }, '`distance` must be a number from 8 to 64, not 100');
  refuse('setCameraFOV', { fov: 60 }, '`fov` must be a number from 0.5 to 5, not 60');
  refuse('dollyCameraIn', { amount: 0 }, '`amount` must be a number above 0, not 0');
  for (const [name, run] of Object.entries(COMMANDS)) {
    assert.throws(() => run(START, null), /the arguments must be an object/, name);
    assert.throws(() => run(START, { nonsense: 1 }), /there is no argument `nonsense`/, name);
  }
});

function scale({ model }: ViewerState) {
  return model.scale;
}

function rotation({ model }: ViewerState) {
  return model.rotation;
}

function key({ keyLight: { position } }: ViewerState) {
  return [position.azimuth, position.elevation, position.distance];
}

function fill({ fillLight: { position } }: ViewerState) {
  return [position.azimuth, position.elevation, position.distance];
}

function camera({ camera: { distance, fov } }: ViewerState) {
  return [distance, fov];
}

function check(
  name: string,
  args: Record<string, unknown>,
  look: (state: ViewerState) => unknown,
  expected: unknown,
): void {
  const outcome = COMMANDS[name]?.(START, args) ?? assert.fail(`no command ${name}`);
  assert.deepEqual(look(apply(START, outcome.change)), expected, name);
  assert.equal(outcome.note, undefined, name);
}

function checkStop(
  name: string,
  args: Record<string, unknown>,
  look: (state: ViewerState) => unknown,
  expected: unknown,
  note: RegExp,
): void {
  const outcome = COMMANDS[name]?.(START, args) ?? assert.fail(`no command ${name}`);
  assert.deepEqual(look(apply(START, outcome.change)), expected, name);
  assert.match(outcome.note ?? '', note, name);
}

function refuse(name: string, args: Record<string, unknown>, part: string): void {
  const run = COMMANDS[name] ?? assert.fail(`no command ${name}`);
  const isRight = (error: unknown) => error instanceof Error && error.message.includes(part);
  assert.throws(() => run(START, args), isRight, `${name}: ${part}`);
}
