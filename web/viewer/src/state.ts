/**
 * The state of the viewer, and the one way to change it: `apply(state, change)`.
 *
 * The state is what a client reads, so its names, units and signs are those of `apps/hello3d.toml`;
 * `/model/name` and `/model/source` are the viewer's own. It is never changed in place. A change
 * that changes nothing returns the same object. What is beyond a limit is brought to it here;
 * refusing it is the work of the commands.
 */

import { clamp, type Limits, tidy, wrapHalfTurn, wrapTurn } from './math/angles';
import type { SphericalPosition } from './math/spherical';
import type { Vector } from './math/vector';

export type LightName = 'key' | 'fill';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Model {
  /** What people call it. */
  readonly name: string;
  /** Where it came from: `builtin:knot`, `file:chair.glb` or an address. */
  readonly source: string;
  /** `#rrggbb`; the model's own colours are multiplied with it. */
  readonly color: string;
  readonly scale: Vector;
  /** Pitch, yaw and roll in degrees. */
  readonly rotation: Vector;
}

/** A rectangle that shines at the model. */
export interface Light {
  readonly intensity: number;
  readonly color: string;
  readonly position: SphericalPosition;
  readonly size: Size;
}

export interface Camera {
  readonly distance: number;
  /** A zoom factor, as hello3d has it: more of it zooms in. */
  readonly fov: number;
}

export interface ViewerState {
  readonly model: Model;
  readonly background: string;
  readonly keyLight: Light;
  readonly fillLight: Light;
  readonly camera: Camera;
}

/** How far each number may go. */
export const LIMITS = {
  scale: { min: 0.01, max: 100 },
  intensity: { min: 0, max: 1000 },
  elevation: { min: 0, max: 90 },
  lightDistance: { min: 0.5, max: 100 },
  lightSize: { min: 0.1, max: 50 },
  cameraDistance: { min: 8, max: 64 },
  fov: { min: 0.5, max: 5 },
} as const satisfies Record<string, Limits>;

/** What can happen to the state. */
export type Change =
  | {
      readonly type: 'model';
      readonly name: string;
      readonly source: string;
      readonly color: string;
    }
  | { readonly type: 'color'; readonly color: string }
  | { readonly type: 'scale'; readonly scale: Vector }
  | { readonly type: 'rotation'; readonly rotation: Vector }
  | { readonly type: 'background'; readonly color: string }
  | { readonly type: 'light'; readonly light: LightName; readonly set: LightPart }
  | { readonly type: 'camera'; readonly set: Partial<Camera> }
  | { readonly type: 'view'; readonly of: ViewerState }
  | { readonly type: 'all'; readonly state: ViewerState };

/** The parts of a light that a change sets; what is absent stays. */
export interface LightPart {
  readonly intensity?: number;
  readonly color?: string;
  readonly position?: Partial<SphericalPosition>;
  readonly size?: Size;
}

/** What a new viewer shows. */
export const INITIAL_STATE: ViewerState = {
  model: {
    name: 'knot',
    source: 'builtin:knot',
    color: '#e4572e',
    scale: { x: 1, y: 1, z: 1 },
    rotation: { x: 0, y: 0, z: 0 },
  },
  background: '#191c20',
  keyLight: {
    intensity: 7,
    color: '#ffffff',
    position: { azimuth: 135, elevation: 40, distance: 9 },
    size: { width: 6, height: 6 },
  },
  fillLight: {
    intensity: 1.5,
    color: '#cfe0ff',
    position: { azimuth: 240, elevation: 15, distance: 9 },
    size: { width: 8, height: 8 },
  },
  camera: { distance: 24, fov: 1 },
};

/** Returns the state after a change; the same object when nothing is different. */
export function apply(state: ViewerState, change: Change): ViewerState {
  const next = changed(state, change);
  return isSame(state, next) ? state : next;
}

/** Returns the light of that name. */
export function lightOf(state: ViewerState, light: LightName): Light {
  return light === 'key' ? state.keyLight : state.fillLight;
}

function changed(state: ViewerState, change: Change): ViewerState {
  switch (change.type) {
    case 'model': {
      const { name, source, color } = change;
      return { ...state, model: { ...state.model, name, source, color } };
    }
    case 'color':
      return { ...state, model: { ...state.model, color: change.color } };
    case 'scale':
      return { ...state, model: { ...state.model, scale: limitScale(change.scale) } };
    case 'rotation':
      return { ...state, model: { ...state.model, rotation: wrapRotation(change.rotation) } };
    case 'background':
      return { ...state, background: change.color };
    case 'light': {
      const light = withPart(lightOf(state, change.light), change.set);
      return change.light === 'key'
        ? { ...state, keyLight: light }
        : { ...state, fillLight: light };
    }
    case 'camera':
      return { ...state, camera: limitCamera({ ...state.camera, ...change.set }) };
    case 'view': {
      const { scale, rotation } = change.of.model;
      return { ...state, model: { ...state.model, scale, rotation }, camera: change.of.camera };
    }
    case 'all':
      return change.state;
    default:
      return change satisfies never;
  }
}

function withPart(light: Light, { intensity, color, position, size }: LightPart): Light {
  return {
    intensity: tidy(clamp(intensity ?? light.intensity, LIMITS.intensity)),
    color: color ?? light.color,
    position: limitPosition({ ...light.position, ...position }),
    size: limitSize(size ?? light.size),
  };
}

function limitPosition({ azimuth, elevation, distance }: SphericalPosition): SphericalPosition {
  return {
    azimuth: wrapTurn(azimuth),
    elevation: tidy(clamp(elevation, LIMITS.elevation)),
    distance: tidy(clamp(distance, LIMITS.lightDistance)),
  };
}

function limitSize({ width, height }: Size): Size {
  return { width: clamp(width, LIMITS.lightSize), height: clamp(height, LIMITS.lightSize) };
}

function limitScale({ x, y, z }: Vector): Vector {
  const limited = (value: number) => tidy(clamp(value, LIMITS.scale));
  return { x: limited(x), y: limited(y), z: limited(z) };
}

function wrapRotation({ x, y, z }: Vector): Vector {
  return { x: wrapHalfTurn(x), y: wrapHalfTurn(y), z: wrapHalfTurn(z) };
}

function limitCamera({ distance, fov }: Camera): Camera {
  return {
    distance: tidy(clamp(distance, LIMITS.cameraDistance)),
    fov: tidy(clamp(fov, LIMITS.fov)),
  };
}

// The state is small and plain, and its keys always have the same order.
function isSame(one: ViewerState, other: ViewerState): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
