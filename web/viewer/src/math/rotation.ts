/**
 * Rotations: the pitch, yaw and roll of the state, and the quaternions that turn and blend them.
 *
 * Angles are degrees, applied roll first, then yaw, then pitch (the order `XYZ` of three.js).
 * Pure functions; the scene turns nothing by itself.
 */

import { shorterWay, tidy, toDegrees, toRadians, wrapHalfTurn } from './angles';
import type { Vector } from './vector';

/** A rotation without gimbal lock. */
export interface Quaternion {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly w: number;
}

/** Returns the rotation around one axis of the scene. */
export function aroundAxis(axis: 'x' | 'y' | 'z', degrees: number): Quaternion {
  const half = toRadians(degrees) / 2;
  return { x: 0, y: 0, z: 0, w: Math.cos(half), [axis]: Math.sin(half) };
}

/** Returns the rotation that does `second` after `first`. */
export function compose(second: Quaternion, first: Quaternion): Quaternion {
  const { x, y, z, w } = second;
  return {
    x: w * first.x + x * first.w + y * first.z - z * first.y,
    y: w * first.y - x * first.z + y * first.w + z * first.x,
    z: w * first.z + x * first.y - y * first.x + z * first.w,
    w: w * first.w - x * first.x - y * first.y - z * first.z,
  };
}

/** Returns the rotation that pitch, yaw and roll make. */
export function fromAngles({ x, y, z }: Vector): Quaternion {
  return compose(aroundAxis('x', x), compose(aroundAxis('y', y), aroundAxis('z', z)));
}

/**
 * Returns pitch, yaw and roll of a rotation.
 *
 * Each rotation has two sets of angles; the one nearer to `before` is taken, so that a model that
 * is dragged past a quarter turn shows no jump in its numbers.
 */
export function toAngles({ x, y, z, w }: Quaternion, before: Vector): Vector {
  const sine = 2 * (x * z + w * y);
  // Looking along the pitch axis, pitch and roll are one; all of it goes to pitch.
  if (Math.abs(sine) > 0.9999999) {
    const pitch = toDegrees(Math.atan2(2 * (y * z + w * x), 1 - 2 * (x * x + z * z)));
    return wrapAll({ x: pitch, y: 90 * Math.sign(sine), z: 0 });
  }
  const one = wrapAll({
    x: toDegrees(Math.atan2(2 * (w * x - y * z), 1 - 2 * (x * x + y * y))),
    y: toDegrees(Math.asin(sine)),
    z: toDegrees(Math.atan2(2 * (w * z - x * y), 1 - 2 * (y * y + z * z))),
  });
  const other = wrapAll({ x: one.x + 180, y: 180 - one.y, z: one.z + 180 });
  return distanceOf(other, before) < distanceOf(one, before) ? other : one;
}

/** Returns angles after a turn around the screen's vertical and horizontal axes. */
export function turnOnScreen(before: Vector, right: number, down: number): Vector {
  const turn = compose(aroundAxis('x', down), aroundAxis('y', right));
  return toAngles(compose(turn, fromAngles(before)), before);
}

/** Returns a rotation part of the way from one to another, by the shortest way. */
export function blend(from: Quaternion, to: Quaternion, part: number): Quaternion {
  const dot = from.x * to.x + from.y * to.y + from.z * to.z + from.w * to.w;
  const angle = Math.acos(Math.min(1, Math.abs(dot)));
  if (angle < 1e-6) return to;
  const first = Math.sin((1 - part) * angle) / Math.sin(angle);
  const second = (Math.sin(part * angle) / Math.sin(angle)) * (dot < 0 ? -1 : 1);
  return {
    x: from.x * first + to.x * second,
    y: from.y * first + to.y * second,
    z: from.z * first + to.z * second,
    w: from.w * first + to.w * second,
  };
}

function wrapAll({ x, y, z }: Vector): Vector {
  return { x: wrapHalfTurn(x), y: wrapHalfTurn(y), z: wrapHalfTurn(z) };
}

function distanceOf(one: Vector, other: Vector): number {
  const gaps = [shorterWay(one.x, other.x), shorterWay(one.y, other.y), shorterWay(one.z, other.z)];
  return tidy(gaps.reduce((sum, gap) => sum + Math.abs(gap), 0));
}
