/**
 * Materials of the built-in models, and the mark that keeps a part out of the tint.
 *
 * Surfaces are smooth plastic or glaze: area lights show as soft boxes on them, and nothing needs
 * an environment map, which is dear without a GPU.
 */

import { type BufferGeometry, Mesh, MeshStandardMaterial } from 'three';

/** On a material's `userData`: the model's colour does not touch it. */
export const KEEPS_COLOR = 'keepsColor';

/** Returns a part that takes the colour of the model. */
export function tinted(geometry: BufferGeometry, roughness = 0.26): Mesh {
  return new Mesh(geometry, new MeshStandardMaterial({ color: 0xffffff, roughness }));
}

/** Returns a part with a colour of its own. */
export function fixed(geometry: BufferGeometry, color: number, glow = 0): Mesh {
  const material = new MeshStandardMaterial({ color, roughness: 0.45 });
  material.emissive.setHex(color);
  material.emissiveIntensity = glow;
  material.userData[KEEPS_COLOR] = true;
  return new Mesh(geometry, material);
}
