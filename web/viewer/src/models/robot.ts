/** A small robot of rounded boxes; eyes, joints and lamp keep their own colours. */

import { CapsuleGeometry, CylinderGeometry, Group, type Mesh, SphereGeometry } from 'three';
import { RoundedBoxGeometry } from 'three/addons/geometries/RoundedBoxGeometry.js';
import { fixed, tinted } from './finish';

const DARK = 0x23282e;
const JOINT = 0x59626c;
const GLOW = 0x7fe7ff;
const LAMP = 0xffc857;

/** Builds the robot. */
export function buildRobot(): Group {
  const group = new Group();
  group.add(
    at(box(2.9, 2.1, 2.1, 0.5), 0, 1.75, 0),
    at(fixed(new RoundedBoxGeometry(2.3, 1.15, 0.3, 5, 0.28), DARK), 0, 1.75, 0.98),
    at(fixed(new SphereGeometry(0.22, 24, 16), GLOW, 0.9), -0.52, 1.8, 1.08),
    at(fixed(new SphereGeometry(0.22, 24, 16), GLOW, 0.9), 0.52, 1.8, 1.08),
    at(fixed(new CylinderGeometry(0.08, 0.08, 0.6, 16), JOINT), 0, 3.05, 0),
    at(fixed(new SphereGeometry(0.22, 24, 16), LAMP, 0.7), 0, 3.42, 0),
    at(fixed(new CylinderGeometry(0.42, 0.5, 0.4, 28), JOINT), 0, 0.6, 0),
    at(box(2.5, 2.2, 1.7, 0.42), 0, -0.6, 0),
    at(fixed(new RoundedBoxGeometry(1.2, 0.8, 0.16, 4, 0.14), DARK), 0, -0.4, 0.84),
    at(fixed(new SphereGeometry(0.13, 20, 14), LAMP, 0.8), 0.3, -0.4, 0.92),
    ...[-1, 1].flatMap((side) => limbs(side)),
  );
  return group;
}

function limbs(side: number): Mesh[] {
  const arm = at(tinted(new CapsuleGeometry(0.3, 1.15, 8, 24), 0.4), side * 1.78, -0.75, 0);
  arm.rotation.z = side * 0.16;
  return [
    arm,
    at(fixed(new SphereGeometry(0.36, 24, 16), JOINT), side * 1.52, 0.12, 0),
    at(fixed(new SphereGeometry(0.34, 24, 16), JOINT), side * 1.93, -1.62, 0),
    at(fixed(new CylinderGeometry(0.3, 0.3, 0.7, 24), JOINT), side * 0.65, -1.95, 0),
    at(box(1.05, 0.75, 1.5, 0.3), side * 0.68, -2.55, 0.15),
    at(fixed(new CylinderGeometry(0.4, 0.4, 0.22, 24), JOINT), side * 1.5, 1.75, 0, Math.PI / 2),
  ];
}

function box(width: number, height: number, depth: number, radius: number): Mesh {
  return tinted(new RoundedBoxGeometry(width, height, depth, 6, radius), 0.4);
}

function at(mesh: Mesh, x: number, y: number, z: number, roll = 0): Mesh {
  mesh.position.set(x, y, z);
  mesh.rotation.z = roll;
  return mesh;
}
