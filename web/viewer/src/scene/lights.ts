/**
 * The two area lights and the little light that is always there.
 *
 * Each light is a rectangle that faces the centre of the model. While a light is being moved a
 * small lamp near the model shows from where it shines, for lights are mostly outside the picture;
 * at rest the picture is only the model.
 */

import {
  BufferGeometry,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  HemisphereLight,
  Line,
  LineBasicMaterial,
  LineLoop,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  RectAreaLight,
} from 'three';
import { RectAreaLightUniformsLib } from 'three/addons/lights/RectAreaLightUniformsLib.js';
import { toCartesian } from '../math/spherical';
import type { Light, ViewerState } from '../state';

/** Keeps shapes readable when both lights are off; too weak to show a colour well. */
const AMBIENT = 0.35;

/** How far from the centre a lamp is shown at most, and how large beside its light. */
const LAMP_DISTANCE = 5.4;
const LAMP_SCALE = 0.2;
/** How long the line is that shows where it shines. */
const BEAM = 1.2;

/** Both lights, as objects of the scene. */
export class Lights {
  readonly object = new Group();
  readonly #key = new Panel();
  readonly #fill = new Panel();

  constructor() {
    RectAreaLightUniformsLib.init();
    const ambient = new HemisphereLight(0xdfe8f2, 0x2a2622, AMBIENT);
    this.object.add(ambient, this.#key.object, this.#fill.object);
  }

  /** Makes the lights what the state says. */
  show({ keyLight, fillLight }: ViewerState): void {
    this.#key.show(keyLight);
    this.#fill.show(fillLight);
  }

  /** Shows or hides the lamps. */
  mark(shown: { readonly key: boolean; readonly fill: boolean }): void {
    this.#key.mark(shown.key);
    this.#fill.mark(shown.fill);
  }
}

class Panel {
  readonly object = new RectAreaLight();
  readonly #edge = new LineBasicMaterial({ transparent: true, opacity: 0.9 });
  readonly #face = new MeshBasicMaterial({ transparent: true, opacity: 0.55, side: DoubleSide });
  readonly #lamp = new Group();

  constructor() {
    const corners = [-0.5, -0.5, 0, 0.5, -0.5, 0, 0.5, 0.5, 0, -0.5, 0.5, 0];
    const outline = new BufferGeometry();
    outline.setAttribute('position', new Float32BufferAttribute(corners, 3));
    this.#face.depthWrite = false;
    const beam = new BufferGeometry();
    beam.setAttribute('position', new Float32BufferAttribute([0, 0, 0, 0, 0, -BEAM], 3));
    this.#lamp.add(
      new LineLoop(outline, this.#edge),
      new Line(beam, this.#edge),
      new Mesh(new PlaneGeometry(), this.#face),
    );
    this.#lamp.visible = false;
    this.object.add(this.#lamp);
  }

  show({ intensity, color, position, size }: Light): void {
    const { x, y, z } = toCartesian(position);
    this.object.color.set(color);
    this.object.intensity = intensity;
    this.object.width = size.width;
    this.object.height = size.height;
    this.object.position.set(x, y, z);
    this.object.lookAt(0, 0, 0);
    this.#lamp.scale.set(size.width * LAMP_SCALE, size.height * LAMP_SCALE, 1);
    // Lights look along their negative z.
    this.#lamp.position.z = -Math.max(0, position.distance - LAMP_DISTANCE);
    this.#edge.color.set(color);
    this.#face.color.set(color);
  }

  mark(isShown: boolean): void {
    this.#lamp.visible = isShown;
  }
}
