/**
 * Arguments that several commands of mouse and keyboard share.
 */

import { invalid } from '../../command';
import type { Point } from '../page/frames';
import { MODIFIERS, type Modifier } from './keys';

/** Returns the point, or nothing if none is given. */
export function pointOf(args: {
  readonly x: number | undefined;
  readonly y: number | undefined;
}): Point | undefined {
  const { x, y } = args;
  if (x === undefined && y === undefined) return undefined;
  if (x === undefined || y === undefined) throw invalid('a point needs both x and y');
  return { x, y };
}

/** Returns the modifiers that are held. */
export function heldModifiers(args: Readonly<Record<Modifier, boolean>>): Modifier[] {
  // The order of pressing them is the table's.
  const all: Modifier[] = ['ctrl', 'alt', 'shift', 'meta'];
  return all.filter((modifier) => modifier in MODIFIERS && args[modifier]);
}
