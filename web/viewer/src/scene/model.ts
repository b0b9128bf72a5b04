/**
 * The model in the scene: takes it from the shelf, places it, and tints it.
 *
 * The colour of the state multiplies what each material had when it was loaded, so white shows a
 * file as its maker meant it.
 */

import {
  Box3,
  Color,
  Group,
  type Material,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Vector3,
} from 'three';
import { toRadians } from '../math/angles';
import { KEEPS_COLOR } from '../models/finish';
import { materialsOf, outlineOf } from '../models/fit';
import type { Shelf } from '../models/shelf';
import type { Model } from '../state';

type Tintable = MeshStandardMaterial | MeshBasicMaterial;

export class SceneModel {
  readonly object = new Group();
  readonly #shelf: Shelf;
  readonly #bounds = new Box3();
  readonly #point = new Vector3();
  #source = '';
  #outline: readonly Vector3[] = [];
  #tintable: { readonly material: Tintable; readonly own: Color }[] = [];

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
  }

  /** Makes the model what the state says. */
  show({ source, color, scale, rotation }: Model): void {
    if (source !== this.#source) this.#take(source);
    this.object.scale.set(scale.x, scale.y, scale.z);
    this.object.rotation.set(toRadians(rotation.x), toRadians(rotation.y), toRadians(rotation.z));
    const tint = new Color(color);
    for (const { material, own } of this.#tintable) material.color.copy(own).multiply(tint);
  }

  /** Returns the box around the model as it stands. */
  bounds(): Box3 {
    this.object.updateMatrix();
    this.#bounds.makeEmpty();
    for (const point of this.#outline) {
      this.#bounds.expandByPoint(this.#point.copy(point).applyMatrix4(this.object.matrix));
    }
    return this.#bounds;
  }

  #take(source: string): void {
    const model = this.#shelf.take(source);
    this.#source = source;
    this.object.clear();
    this.#outline = outlineOf(model);
    this.object.add(model);
    this.#tintable = [...materialsOf(model)].filter(isTintable).map((material) => ({
      material,
      own: ownColor(material),
    }));
  }
}

function isTintable(material: Material): material is Tintable {
  const hasColor =
    material instanceof MeshStandardMaterial || material instanceof MeshBasicMaterial;
  return hasColor && material.userData[KEEPS_COLOR] !== true;
}

// Kept on the material, since a model comes back from the shelf with its last tint.
function ownColor(material: Tintable): Color {
  const kept: unknown = material.userData.ownColor;
  if (kept instanceof Color) return kept;
  const own = material.color.clone();
  material.userData.ownColor = own;
  return own;
}
