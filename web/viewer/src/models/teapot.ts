/**
 * A teapot, turned and bent: body and lid from profiles, spout and handle along curves.
 *
 * The measures are our own; it only wants to be known at first sight.
 */

import {
  CatmullRomCurve3,
  Group,
  LatheGeometry,
  SphereGeometry,
  SplineCurve,
  TorusGeometry,
  TubeGeometry,
  Vector2,
  Vector3,
} from 'three';
import { tinted } from './finish';

type Point = readonly [number, number];

const BODY: readonly Point[] = [
  [0, -1.9],
  [1.15, -1.9],
  [1.35, -1.78],
  [1.9, -1.3],
  [2.3, -0.45],
  [2.2, 0.45],
  [1.75, 1.15],
  [1.3, 1.42],
  [1.25, 1.55],
];
const LID: readonly Point[] = [
  [1.28, 1.5],
  [1.2, 1.66],
  [0.8, 1.9],
  [0.3, 2.05],
  [0.2, 2.15],
  [0, 2.2],
];
const SPOUT: readonly Vector3[] = [
  new Vector3(1.5, -0.7, 0),
  new Vector3(2.5, -0.45, 0),
  new Vector3(3.0, 0.4, 0),
  new Vector3(3.65, 1.2, 0),
];
const HANDLE: readonly Vector3[] = [
  new Vector3(-1.5, 0.85, 0),
  new Vector3(-2.5, 1.2, 0),
  new Vector3(-3.3, 0.75, 0),
  new Vector3(-3.2, -0.2, 0),
  new Vector3(-2.5, -0.85, 0),
  new Vector3(-1.6, -1.05, 0),
];

/** Builds the teapot. */
export function buildTeapot(): Group {
  const group = new Group();
  const knob = tinted(new SphereGeometry(0.34, 32, 20));
  knob.position.y = 2.42;
  group.add(turned(BODY), turned(LID), ...spout(), handle(), knob);
  return group;
}

function turned(profile: readonly Point[]) {
  const curve = new SplineCurve(profile.map(([x, y]) => new Vector2(x, y)));
  return tinted(new LatheGeometry(curve.getPoints(48), 72));
}

function spout() {
  const curve = new CatmullRomCurve3([...SPOUT]);
  const geometry = new TubeGeometry(curve, 40, 0.36, 28);
  // A spout is wide where it leaves the body.
  const position = geometry.getAttribute('position');
  const centre = new Vector3();
  const point = new Vector3();
  for (let index = 0; index < position.count; index += 1) {
    const part = Math.floor(index / 29) / 40;
    curve.getPointAt(part, centre);
    point.fromBufferAttribute(position, index).sub(centre);
    point.multiplyScalar(1.9 - 0.9 * Math.sqrt(part)).add(centre);
    position.setXYZ(index, point.x, point.y, point.z);
  }
  geometry.computeVertexNormals();
  const rim = tinted(new TorusGeometry(0.35, 0.07, 16, 40));
  rim.position.copy(curve.getPointAt(1));
  rim.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), curve.getTangentAt(1));
  return [tinted(geometry), rim];
}

function handle() {
  return tinted(new TubeGeometry(new CatmullRomCurve3([...HANDLE]), 48, 0.24, 20));
}
