/**
 * States between two states, for the short movement that shows what a client changed.
 *
 * Pure. Directions go the shorter way, colours are mixed as numbers, the model turns by the
 * shortest rotation. Models and their names do not mix: the new one is there at once.
 */

import { shorterWay } from '../math/angles';
import { blend, fromAngles, toAngles } from '../math/rotation';
import type { Vector } from '../math/vector';
import type { Light, ViewerState } from '../state';

/** Returns the state that part of the way, 0 to 1. */
export function between(from: ViewerState, to: ViewerState, part: number): ViewerState {
  if (part >= 1) return to;
  const isOtherModel = from.model.source !== to.model.source;
  return {
    model: {
      ...to.model,
      color: isOtherModel ? to.model.color : mix(from.model.color, to.model.color, part),
      scale: vector(from.model.scale, to.model.scale, part),
      rotation: rotation(from.model.rotation, to.model.rotation, part),
    },
    background: mix(from.background, to.background, part),
    keyLight: light(from.keyLight, to.keyLight, part),
    fillLight: light(from.fillLight, to.fillLight, part),
    camera: {
      distance: number(from.camera.distance, to.camera.distance, part),
      fov: number(from.camera.fov, to.camera.fov, part),
    },
  };
}

function light(from: Light, to: Light, part: number): Light {
  const way = shorterWay(from.position.azimuth, to.position.azimuth);
  return {
    intensity: number(from.intensity, to.intensity, part),
    color: mix(from.color, to.color, part),
    position: {
      azimuth: from.position.azimuth + way * part,
      elevation: number(from.position.elevation, to.position.elevation, part),
      distance: number(from.position.distance, to.position.distance, part),
    },
    size: {
      width: number(from.size.width, to.size.width, part),
      height: number(from.size.height, to.size.height, part),
    },
  };
}

function rotation(from: Vector, to: Vector, part: number): Vector {
  return toAngles(blend(fromAngles(from), fromAngles(to), part), to);
}

function vector(from: Vector, to: Vector, part: number): Vector {
  return {
    x: number(from.x, to.x, part),
    y: number(from.y, to.y, part),
    z: number(from.z, to.z, part),
  };
}

function mix(from: string, to: string, part: number): string {
  const channels = [1, 3, 5].map((place) => {
    const channel = (color: string) => Number.parseInt(color.slice(place, place + 2), 16);
    return Math.round(number(channel(from), channel(to), part));
  });
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

function number(from: number, to: number, part: number): number {
  return from + (to - from) * part;
}
