/**
 * Where a light stands, as people say it and as the scene wants it.
 *
 * Azimuth 0 is away from the camera, 90 to its right, 180 towards it; elevation 0 is level with
 * the model and 90 overhead; distance is from the centre of the model. The scene has x to the
 * right, y up and z towards the camera. The camera never goes round the model, so its directions
 * are fixed ones.
 */

import { tidy, toDegrees, toRadians, wrapTurn } from './angles';
import type { Vector } from './vector';

/** A place around the model, in degrees and units. */
export interface SphericalPosition {
  readonly azimuth: number;
  readonly elevation: number;
  readonly distance: number;
}

/** Returns the place in the scene. */
export function toCartesian({ azimuth, elevation, distance }: SphericalPosition): Vector {
  const level = distance * Math.cos(toRadians(elevation));
  return {
    x: level * Math.sin(toRadians(azimuth)),
    y: distance * Math.sin(toRadians(elevation)),
    z: -level * Math.cos(toRadians(azimuth)),
  };
}

/** Returns azimuth, elevation and distance of a place; azimuth is 0 where there is none. */
export function toSpherical({ x, y, z }: Vector): SphericalPosition {
  const distance = Math.hypot(x, y, z);
  if (distance === 0) return { azimuth: 0, elevation: 0, distance: 0 };
  const isVertical = Math.hypot(x, z) < 1e-9 * distance;
  return {
    azimuth: isVertical ? 0 : wrapTurn(toDegrees(Math.atan2(x, -z))),
    elevation: tidy(toDegrees(Math.asin(y / distance))),
    distance: tidy(distance),
  };
}
