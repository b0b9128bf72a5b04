/** The models that are always there: their colours, and what builds them. */

import type { Group } from 'three';
import { buildKnot } from './knot';
import type { BuiltinName } from './names';
import { buildRobot } from './robot';
import { buildTeapot } from './teapot';

export interface Builtin {
  readonly description: string;
  /** The colour it comes in. */
  readonly color: string;
  readonly build: () => Group;
}

export const BUILTINS: Readonly<Record<BuiltinName, Builtin>> = {
  knot: { description: 'a smooth torus knot', color: '#e4572e', build: buildKnot },
  teapot: { description: 'a glazed teapot', color: '#2f8f83', build: buildTeapot },
  robot: { description: 'a small friendly robot', color: '#f2efe8', build: buildRobot },
};
