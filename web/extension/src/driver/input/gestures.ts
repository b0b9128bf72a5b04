/**
 * Arguments that several commands of mouse and keyboard share.
 */

import { boolean, invalid, number, optional } from '../../command';
import type { Point } from '../page/frames';
import { MODIFIERS, type Modifier } from './keys';

/** A point in the tab's viewport, in CSS pixels. */
export const POINT = { x: optional(number()), y: optional(number()) } as const;

/** The keys that are held down. */
export const MODIFIER_ARGS = {
  ctrl: optional(boolean(), false),
  alt: optional(boolean(), false),
  shift: optional(boolean(), false),
  meta: optional(boolean(), false),
} as const;

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
