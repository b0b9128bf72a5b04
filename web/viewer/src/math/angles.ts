/**
 * Angles in degrees: wrapping, clamping, the shorter way round, and numbers without noise.
 *
 * Pure functions. It knows nothing of lights and models.
 */

/** Where a value may lie, both ends included. */
export interface Limits {
  readonly min: number;
  readonly max: number;
}

/** Returns the nearest value within the limits. */
export function clamp(value: number, { min, max }: Limits): number {
  return Math.min(max, Math.max(min, value));
}

/** Removes the noise of floating point, and the minus of a zero. */
export function tidy(value: number): number {
  return Math.round(value * 1e9) / 1e9 + 0;
}

/** Returns the same direction, from 0 up to but without 360. */
export function wrapTurn(degrees: number): number {
  const turned = tidy(((degrees % 360) + 360) % 360);
  return turned === 360 ? 0 : turned;
}

/** Returns the same angle, above -180 and up to 180. */
export function wrapHalfTurn(degrees: number): number {
  const turned = wrapTurn(degrees);
  return turned > 180 ? tidy(turned - 360) : turned;
}

/** Returns how far it is from one direction to the other by the shorter way, -180 to 180. */
export function shorterWay(from: number, to: number): number {
  return wrapHalfTurn(to - from);
}

/** Converts degrees to radians. */
export function toRadians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

/** Converts radians to degrees. */
export function toDegrees(radians: number): number {
  return (radians * 180) / Math.PI;
}
