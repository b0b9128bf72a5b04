/**
 * The camera: looks at the centre from slightly above, at the distance and zoom of the state.
 *
 * On narrow screens it takes in more, so that the model fits on a phone that is held upright. It
 * never goes round the model: directions of lights stay what they are.
 */

import { PerspectiveCamera } from 'three';
import { toDegrees, toRadians } from '../math/angles';
import type { Camera } from '../state';

const FIELD = 32;
const ABOVE = 9;
/** Below this ratio of width to height the width decides what fits. */
const NARROW = 0.85;

export class SceneCamera {
  readonly object = new PerspectiveCamera(FIELD, 1, 0.5, 300);

  /** Makes the camera what the state says, for a picture of that width by height. */
  show({ distance, fov }: Camera, aspect: number): void {
    const up = toRadians(ABOVE);
    const wider = Math.max(1, NARROW / aspect);
    this.object.position.set(0, distance * Math.sin(up), distance * Math.cos(up));
    this.object.lookAt(0, 0, 0);
    this.object.aspect = aspect;
    this.object.fov = toDegrees(2 * Math.atan(Math.tan(toRadians(FIELD / 2)) * wider));
    this.object.zoom = fov;
    this.object.updateProjectionMatrix();
  }
}
