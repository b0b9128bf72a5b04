/**
 * Commands for the model and the background.
 *
 * Signs are those of hello3d: clockwise takes from the yaw, up adds to the pitch. Its page folds
 * angles into half a turn of yaw and so gets stuck at a quarter turn; here they go all the way
 * round.
 */

import { colour, number, optional, step } from '../arguments';
import type { Vector } from '../math/vector';
import { type Change, LIMITS, type ViewerState } from '../state';
import { type Commands, defineCommand } from './command';

const TURN = 10;
const NUDGE = 5;

export const modelCommands: Commands = {
  changeColor: defineCommand({ color: colour() }, (_, { color }) => ({ type: 'color', color })),

  changeSize: defineCommand({ size: number(LIMITS.scale) }, (_, { size }) => ({
    type: 'scale',
    scale: { x: size, y: size, z: size },
  })),

  scaleModel: defineCommand(
    { x: number(LIMITS.scale), y: number(LIMITS.scale), z: number(LIMITS.scale) },
    (_, scale) => ({ type: 'scale', scale }),
  ),

  setModelRotation: defineCommand({ x: number(), y: number(), z: number() }, (_, rotation) => ({
    type: 'rotation',
    rotation,
  })),

  rotateModelClockwise: turning(TURN, (degrees) => ({ y: -degrees })),
  rotateModelCounterclockwise: turning(TURN, (degrees) => ({ y: degrees })),
  nudgeModelPitchUp: turning(NUDGE, (degrees) => ({ x: degrees })),
  nudgeModelPitchDown: turning(NUDGE, (degrees) => ({ x: -degrees })),

  nudgeModelRoll: defineCommand({ degrees: optional(number(), NUDGE) }, (state, { degrees }) =>
    turn(state, { z: degrees }),
  ),

  changeBackgroundColor: defineCommand({ color: colour() }, (_, { color }) => ({
    type: 'background',
    color,
  })),
};

function turning(byDefault: number, by: (degrees: number) => Partial<Vector>) {
  return defineCommand({ degrees: optional(step(), byDefault) }, (state, { degrees }) =>
    turn(state, by(degrees)),
  );
}

function turn({ model: { rotation } }: ViewerState, by: Partial<Vector>): Change {
  return {
    type: 'rotation',
    rotation: {
      x: rotation.x + (by.x ?? 0),
      y: rotation.y + (by.y ?? 0),
      z: rotation.z + (by.z ?? 0),
    },
  };
}
