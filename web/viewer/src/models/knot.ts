/** A torus knot: one smooth band that shows light and colour from every side. */

import { Group, TorusKnotGeometry } from 'three';
import { tinted } from './finish';

/** Builds the knot. */
export function buildKnot(): Group {
  const group = new Group();
  const knot = tinted(new TorusKnotGeometry(2.5, 0.72, 260, 36, 2, 3), 0.24);
  knot.rotation.set(0, 0, -0.5);
  group.add(knot);
  return group;
}
