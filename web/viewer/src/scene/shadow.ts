/**
 * The soft shadow below the model.
 *
 * Area lights cast none, and a real one would be dear without a GPU: this is a dark patch that
 * follows the box around the model, and tells the eye where the model stands.
 */

import {
  type Box3,
  DataTexture,
  LinearFilter,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  RGBAFormat,
  Vector3,
} from 'three';

const TEXELS = 64;
const DARKNESS = 0.55;
/** How much larger than the model. */
const SPREAD = 1.3;

export class Shadow {
  readonly object: Mesh;
  readonly #size = new Vector3();
  readonly #centre = new Vector3();

  constructor() {
    const material = new MeshBasicMaterial({
      color: 0x000000,
      map: patch(),
      transparent: true,
      depthWrite: false,
    });
    this.object = new Mesh(new PlaneGeometry(), material);
    this.object.rotation.x = -Math.PI / 2;
  }

  /** Lies below that box. */
  follow(box: Box3): void {
    box.getSize(this.#size);
    box.getCenter(this.#centre);
    this.object.position.set(this.#centre.x, box.min.y - 0.15, this.#centre.z);
    this.object.scale.set(this.#size.x * SPREAD + 1, this.#size.z * SPREAD + 1, 1);
  }
}

function patch(): DataTexture {
  const data = new Uint8Array(TEXELS * TEXELS * 4);
  for (let index = 0; index < TEXELS * TEXELS; index += 1) {
    const x = ((index % TEXELS) + 0.5) / TEXELS - 0.5;
    const y = (Math.floor(index / TEXELS) + 0.5) / TEXELS - 0.5;
    const left = Math.max(0, 1 - 2 * Math.hypot(x, y));
    data[4 * index + 3] = 255 * DARKNESS * left * left * (3 - 2 * left);
  }
  const texture = new DataTexture(data, TEXELS, TEXELS, RGBAFormat);
  texture.magFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}
