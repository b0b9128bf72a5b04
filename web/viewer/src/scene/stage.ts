/**
 * The stage: draws a state on a canvas, when there is something new and at no other time.
 *
 * In comes the state with every change; out go frames. A client's change is shown as a short
 * movement, a hand's at once. There is no loop at rest: each frame asks for the next only while
 * something still moves, and a page that nobody sees draws nothing before it is seen. Without a
 * GPU it draws coarsely while things move, and one fine frame when they have stopped. Nothing here
 * changes the state.
 */

import { Scene } from 'three';
import type { Shelf } from '../models/shelf';
import type { LightName, ViewerState } from '../state';
import { between } from './blend';
import { SceneCamera } from './camera';
import { Lights } from './lights';
import { SceneModel } from './model';
import { Screen } from './screen';
import { Shadow } from './shadow';

/** How long a client's change moves. */
const MOVE_MS = 180;
/** How long a light that moved keeps its lamp. */
const MARK_MS = 1200;
/** How long nothing must move before a fine frame is worth its time. */
const REFINE_AFTER_MS = 150;

interface Move {
  readonly from: ViewerState;
  readonly startedAt: number;
}

export class Stage {
  readonly #screen: Screen;
  readonly #scene = new Scene();
  readonly #camera = new SceneCamera();
  readonly #lights = new Lights();
  readonly #model: SceneModel;
  readonly #shadow = new Shadow();
  readonly #isCalm = matchMedia('(prefers-reduced-motion: reduce)');
  #target: ViewerState;
  #shown: ViewerState;
  #move: Move | undefined;
  #frames = 0;
  #asked = 0;
  #refining = 0;
  /** Something has changed while nobody saw it. */
  #isBehind = false;
  #marked = { key: 0, fill: 0 };
  #onRest: (() => void)[] = [];

  /** Puts a canvas into its home; throws where the browser has no WebGL. */
  constructor(home: HTMLElement, shelf: Shelf, state: ViewerState) {
    this.#screen = new Screen(home, {
      onResize: () => this.#drawMoving(),
      onRestore: () => this.#ask(),
    });
    this.#model = new SceneModel(shelf);
    this.#scene.add(this.#lights.object, this.#model.object, this.#shadow.object);
    this.#target = state;
    this.#shown = state;
    this.#drawMoving();
  }

  /** How many frames were drawn so far. */
  get frames(): number {
    return this.#frames;
  }

  /** Whether the browser has taken the canvas away, as it does with the oldest of many. */
  get isLost(): boolean {
    return this.#screen.isLost;
  }

  /** The size of the picture on the page. */
  get size(): { readonly width: number; readonly height: number } {
    return this.#screen.size;
  }

  /** Shows a state: moving to it, or at once. */
  show(state: ViewerState, isMoving: boolean): void {
    this.#markMovedLights(state);
    const moves = isMoving && !this.#isCalm.matches && !document.hidden;
    this.#move = moves ? { from: this.#shown, startedAt: performance.now() } : undefined;
    this.#target = state;
    if (!moves) this.#shown = state;
    this.#ask();
  }

  /** Draws what has changed while the page was hidden. */
  wake(): void {
    if (!this.#isBehind || document.hidden) return;
    this.#isBehind = false;
    this.#ask();
  }

  /** Resolves when the state is on the page, fine, and nothing will be drawn by itself. */
  settled(): Promise<void> {
    if (this.#isResting()) return Promise.resolve();
    return new Promise((resolve) => this.#onRest.push(resolve));
  }

  /** Returns a PNG of the state, base64 without prefix, in the size that is asked for. */
  picture(width: number, height: number): string {
    const data = this.#screen.picture(width, height, () => {
      this.#lights.mark({ key: false, fill: false });
      this.#render(this.#target, width / height);
    });
    // The page's own picture went with it. A fine one leaves nothing to be done later.
    if (this.#asked === 0) this.#refine();
    else this.#drawMoving();
    return data;
  }

  /** Ends it; another may take its home. */
  close(): void {
    cancelAnimationFrame(this.#asked);
    clearTimeout(this.#refining);
    for (const timer of Object.values(this.#marked)) clearTimeout(timer);
    this.#asked = 0;
    this.#refining = 0;
    this.#marked = { key: 0, fill: 0 };
    this.#screen.close();
    this.#tellRest();
  }

  #ask(): void {
    if (this.#sleeps()) return;
    if (this.#asked === 0) this.#asked = requestAnimationFrame((now) => this.#tick(now));
  }

  #tick(now: number): void {
    this.#asked = 0;
    if (this.#move !== undefined) {
      const part = Math.min(1, Math.max(0, now - this.#move.startedAt) / MOVE_MS);
      this.#shown = between(this.#move.from, this.#target, 1 - (1 - part) ** 3);
      if (part === 1) this.#move = undefined;
    }
    this.#drawMoving();
    if (this.#move !== undefined) this.#ask();
  }

  #drawMoving(): void {
    clearTimeout(this.#refining);
    this.#refining = 0;
    if (this.#sleeps()) return;
    this.#draw(false);
    if (this.#move !== undefined) return;
    if (this.#screen.isFine) this.#tellRest();
    else this.#refining = window.setTimeout(() => this.#refine(), REFINE_AFTER_MS);
  }

  #refine(): void {
    clearTimeout(this.#refining);
    this.#refining = 0;
    // Something moves again; the fine frame comes after that.
    if (this.#asked !== 0 || this.#sleeps()) return;
    this.#draw(true);
    this.#tellRest();
  }

  /** Whether there is nobody to draw for; then it is done when there is. */
  #sleeps(): boolean {
    if (!document.hidden) return false;
    this.#isBehind = true;
    this.#move = undefined;
    this.#shown = this.#target;
    this.#tellRest();
    return true;
  }

  #draw(isFine: boolean): void {
    this.#screen.prepare(isFine);
    const { width, height } = this.size;
    this.#lights.mark({ key: this.#marked.key !== 0, fill: this.#marked.fill !== 0 });
    this.#render(this.#shown, width / height);
    this.#frames += 1;
  }

  #render(state: ViewerState, aspect: number): void {
    this.#lights.show(state);
    this.#camera.show(state.camera, aspect);
    this.#model.show(state.model);
    this.#shadow.follow(this.#model.bounds());
    this.#screen.render(this.#scene, this.#camera.object, state.background);
  }

  #isResting(): boolean {
    const { key, fill } = this.#marked;
    return this.#asked === 0 && this.#refining === 0 && key === 0 && fill === 0;
  }

  #tellRest(): void {
    if (!this.#isResting()) return;
    for (const resolve of this.#onRest.splice(0)) resolve();
  }

  #markMovedLights(state: ViewerState): void {
    const isMoved = (key: 'keyLight' | 'fillLight') =>
      JSON.stringify(state[key].position) !== JSON.stringify(this.#target[key].position);
    if (isMoved('keyLight')) this.#mark('key');
    if (isMoved('fillLight')) this.#mark('fill');
  }

  #mark(light: LightName): void {
    clearTimeout(this.#marked[light]);
    this.#marked[light] = window.setTimeout(() => {
      this.#marked[light] = 0;
      this.#ask();
    }, MARK_MS);
  }
}
