/**
 * Commands for the camera: its distance, and what hello3d calls its field of view.
 *
 * That is a zoom factor: to increase it zooms in.
 */

import { number, optional, step } from '../arguments';
import { LIMITS } from '../state';
import { type Command, type Commands, defineCommand, moveTo } from './command';

const DOLLY = 0.1;
const ZOOM = 0.02;

export const cameraCommands: Commands = {
  dollyCamera: defineCommand({ distance: number(LIMITS.cameraDistance) }, (_, { distance }) => ({
    type: 'camera',
    set: { distance },
  })),
  dollyCameraIn: dolly(-1),
  dollyCameraOut: dolly(1),

  setCameraFOV: defineCommand({ fov: number(LIMITS.fov) }, (_, { fov }) => ({
    type: 'camera',
    set: { fov },
  })),
  increaseCameraFOV: zoom(1),
  decreaseCameraFOV: zoom(-1),
};

function dolly(sign: 1 | -1): Command {
  return defineCommand({ amount: optional(step(), DOLLY) }, ({ camera }, { amount }) =>
    moveTo('the distance', camera.distance + sign * amount, LIMITS.cameraDistance, (distance) => ({
      type: 'camera',
      set: { distance },
    })),
  );
}

function zoom(sign: 1 | -1): Command {
  return defineCommand({ amount: optional(step(), ZOOM) }, ({ camera }, { amount }) =>
    moveTo('the field of view', camera.fov + sign * amount, LIMITS.fov, (fov) => ({
      type: 'camera',
      set: { fov },
    })),
  );
}
