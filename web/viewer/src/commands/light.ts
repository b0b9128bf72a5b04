/**
 * Commands for a light, each once for the key light and once for the fill light.
 *
 * Signs are those of hello3d: clockwise takes from the azimuth. A swing moves the light as its
 * page does, but is seen in the state. Elevation stays between level and overhead.
 */

import { colour, number, optional, step } from '../arguments';
import { shorterWay } from '../math/angles';
import {
  type Change,
  LIMITS,
  type LightName,
  type LightPart,
  lightOf,
  type ViewerState,
} from '../state';
import { type Command, type Commands, defineCommand, moveTo, type Outcome } from './command';

const SWING = 10;
const TURN = 10;
const NUDGE = 5;
const WALK = 1;
const DIRECTION = { min: 0, max: 360 };

/** Returns the commands of one light under their names on the wire. */
export function lightCommands(light: LightName): Commands {
  const Light = light === 'key' ? 'KeyLight' : 'FillLight';
  return {
    [`set${Light}Intensity`]: defineCommand(
      { intensity: number(LIMITS.intensity) },
      (_, { intensity }) => set(light, { intensity }),
    ),
    [`set${Light}Color`]: defineCommand({ color: colour() }, (_, { color }) =>
      set(light, { color }),
    ),
    [`set${Light}PositionSpherical`]: defineCommand(
      { azimuth: number(DIRECTION), elevation: number(LIMITS.elevation) },
      (_, position) => set(light, { position }),
    ),
    [`set${Light}Distance`]: defineCommand(
      { distance: number(LIMITS.lightDistance) },
      (_, { distance }) => set(light, { position: { distance } }),
    ),
    [`swing${Light}Up`]: defineCommand({}, (state) => raise(state, light, SWING)),
    [`swing${Light}Down`]: defineCommand({}, (state) => raise(state, light, -SWING)),
    [`swing${Light}Left`]: defineCommand({}, (state) => turn(state, light, SWING)),
    [`swing${Light}Right`]: defineCommand({}, (state) => turn(state, light, -SWING)),
    [`walk${Light}In`]: walk(light, -WALK),
    [`walk${Light}Out`]: walk(light, WALK),
    [`rotate${Light}Clockwise`]: stepping(light, TURN, -1, turn),
    [`rotate${Light}Counterclockwise`]: stepping(light, TURN, 1, turn),
    [`nudge${Light}ElevationUp`]: stepping(light, NUDGE, 1, raise),
    [`nudge${Light}ElevationDown`]: stepping(light, NUDGE, -1, raise),
    [`move${Light}TowardDirection`]: defineCommand(
      { direction: number(DIRECTION), degrees: optional(step(), TURN) },
      (state, { direction, degrees }) => {
        const way = shorterWay(lightOf(state, light).position.azimuth, direction);
        return turn(state, light, Math.sign(way) * Math.min(Math.abs(way), degrees));
      },
    ),
  };
}

type Move = (state: ViewerState, light: LightName, degrees: number) => Change | Outcome;

function stepping(light: LightName, byDefault: number, sign: 1 | -1, move: Move): Command {
  return defineCommand({ degrees: optional(step(), byDefault) }, (state, { degrees }) =>
    move(state, light, sign * degrees),
  );
}

function turn(state: ViewerState, light: LightName, degrees: number): Change {
  const { azimuth } = lightOf(state, light).position;
  return set(light, { position: { azimuth: azimuth + degrees } });
}

function raise(state: ViewerState, light: LightName, degrees: number): Outcome {
  const wanted = lightOf(state, light).position.elevation + degrees;
  return moveTo('the elevation', wanted, LIMITS.elevation, (elevation) =>
    set(light, { position: { elevation } }),
  );
}

function walk(light: LightName, by: number): Command {
  return defineCommand({}, (state) => {
    const wanted = lightOf(state, light).position.distance + by;
    return moveTo('the distance', wanted, LIMITS.lightDistance, (distance) =>
      set(light, { position: { distance } }),
    );
  });
}

function set(light: LightName, part: LightPart): Change {
  return { type: 'light', light, set: part };
}
