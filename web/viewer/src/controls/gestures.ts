/**
 * What hands mean: movements in pixels in, changes of the state out.
 *
 * Pure, so that mouse, fingers and keys agree. Which movement is which gesture is for the files
 * beside this one.
 */

import { turnOnScreen } from '../math/rotation';
import { type Change, type LightName, lightOf, type ViewerState } from '../state';

const TURN_PER_PIXEL = 0.4;
const LIGHT_PER_PIXEL = 0.3;

/** A distance on the screen, in pixels to the right and down. */
export interface Shift {
  readonly x: number;
  readonly y: number;
}

/** Turns the model as if it were grabbed. */
export function dragModel({ model }: ViewerState, { x, y }: Shift): Change {
  const rotation = turnOnScreen(model.rotation, x * TURN_PER_PIXEL, y * TURN_PER_PIXEL);
  return { type: 'rotation', rotation };
}

/**
 * Says which way a light has to turn to follow the hand: one in front of the model goes the other
 * way round than one behind it. Asked once for each drag, or it would stick at the sides.
 */
export function sideOf(state: ViewerState, light: LightName): 1 | -1 {
  const { azimuth } = lightOf(state, light).position;
  return azimuth > 90 && azimuth < 270 ? -1 : 1;
}

/** Moves a light around the model. */
export function dragLight(
  state: ViewerState,
  light: LightName,
  { x, y }: Shift,
  side: 1 | -1,
): Change {
  const { azimuth, elevation } = lightOf(state, light).position;
  const position = {
    azimuth: azimuth + side * x * LIGHT_PER_PIXEL,
    elevation: elevation - y * LIGHT_PER_PIXEL,
  };
  return { type: 'light', light, set: { position } };
}

/** Moves the camera so that the model looks that many times as large. */
export function zoomBy({ camera }: ViewerState, factor: number): Change {
  return { type: 'camera', set: { distance: camera.distance / factor } };
}

/** Multiplies the zoom factor of the lens. */
export function narrowBy({ camera }: ViewerState, factor: number): Change {
  return { type: 'camera', set: { fov: camera.fov * factor } };
}
