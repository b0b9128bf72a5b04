/**
 * Brings any model to the middle and to one size, and lets go of what it holds.
 *
 * Files come in millimetres, metres and miles; after this each fills the picture alike, so that
 * scale 1 means the same for all.
 */

import { Box3, Group, type Material, Mesh, type Object3D, Texture, Vector3 } from 'three';

/** The longest side of a model at scale 1, and the way through it from corner to corner. */
const LONGEST_SIDE = 8.2;
const DIAGONAL = 11.8;

/** Puts the object into a group that is centred and sized, or throws when there is nothing. */
export function fit(object: Object3D): Group {
  const box = new Box3().setFromObject(object, true);
  const size = box.getSize(new Vector3());
  const longest = Math.max(size.x, size.y, size.z);
  if (box.isEmpty() || !(longest > 0) || !Number.isFinite(longest)) {
    throw new Error('the model has nothing to show: no mesh with a size');
  }
  const scale = Math.min(LONGEST_SIDE / longest, DIAGONAL / size.length());
  const group = new Group();
  object.position.sub(box.getCenter(new Vector3()));
  const holder = new Group();
  holder.scale.setScalar(scale);
  holder.add(object);
  group.add(holder);
  return group;
}

/**
 * Returns points of the model's surface, at most so many: enough for the box around it in any
 * rotation, and few enough to ask for that box in every frame.
 */
export function outlineOf(object: Object3D, atMost = 3000): readonly Vector3[] {
  object.updateWorldMatrix(true, true);
  const into = object.matrixWorld.clone().invert();
  const meshes: Mesh[] = [];
  object.traverse((part) => {
    if (part instanceof Mesh) meshes.push(part);
  });
  const count = (mesh: Mesh) => mesh.geometry.getAttribute('position')?.count ?? 0;
  const stride = Math.ceil(meshes.reduce((sum, mesh) => sum + count(mesh), 0) / atMost) || 1;
  return meshes.flatMap((mesh) =>
    Array.from({ length: Math.ceil(count(mesh) / stride) }, (_, index) =>
      mesh
        .getVertexPosition(index * stride, new Vector3())
        .applyMatrix4(mesh.matrixWorld)
        .applyMatrix4(into),
    ),
  );
}

/** Returns the materials of all parts, each once. */
export function* materialsOf(object: Object3D): Generator<Material> {
  const found: Material[] = [];
  object.traverse((part) => {
    if (part instanceof Mesh) found.push(...[part.material].flat());
  });
  yield* new Set(found);
}

/** Frees geometries, materials and textures. */
export function dispose(object: Object3D): void {
  for (const material of materialsOf(object)) {
    for (const value of Object.values(material)) {
      if (value instanceof Texture) value.dispose();
    }
    material.dispose();
  }
  object.traverse((part) => {
    if (part instanceof Mesh) part.geometry.dispose();
  });
}
