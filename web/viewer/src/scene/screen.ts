/**
 * The screen: a canvas of the page's size, how finely it is drawn, and pictures of other sizes.
 *
 * Edges are smooth because a frame has twice the pixels each way, which also smooths highlights;
 * multisampling would not, and costs a processor without a GPU half of its frames. Such a
 * processor draws with single pixels while things move. It knows no scene and no state.
 */

import { type Camera, NeutralToneMapping, type Scene, WebGLRenderer } from 'three';

const FINE = 2;
const COARSE = 1;
/** The most pixels of a frame; a very large screen is drawn less finely instead. */
const MOST_PIXELS = 9_000_000;

/** What the screen tells. */
export interface ScreenListener {
  /** The size is another and the picture is gone: draw it at once, or it flashes. */
  onResize(): void;
  /** The browser has given the canvas back, empty. */
  onRestore(): void;
}

export class Screen {
  readonly #canvas = document.createElement('canvas');
  readonly #renderer: WebGLRenderer;
  readonly #isSoftware: boolean;
  readonly #resizes: ResizeObserver;
  #size = { width: 1, height: 1 };
  #isFine = true;

  /** Puts the canvas into its home; throws where the browser has no WebGL. */
  constructor(home: HTMLElement, listener: ScreenListener) {
    home.replaceChildren(this.#canvas);
    this.#renderer = new WebGLRenderer({ canvas: this.#canvas, powerPreference: 'low-power' });
    this.#renderer.toneMapping = NeutralToneMapping;
    this.#isSoftware = isSoftware(this.#renderer.getContext());
    this.#measure();
    this.#resizes = new ResizeObserver(() => {
      if (this.#measure()) listener.onResize();
    });
    this.#resizes.observe(this.#canvas);
    this.#canvas.addEventListener('webglcontextrestored', () => listener.onRestore());
  }

  /** Whether the browser has taken the canvas away. */
  get isLost(): boolean {
    return this.#renderer.getContext().isContextLost();
  }

  /** Whether what is drawn now is as fine as it gets. */
  get isFine(): boolean {
    return this.#isFine;
  }

  /** The size on the page. */
  get size(): { readonly width: number; readonly height: number } {
    return this.#size;
  }

  /** Makes the canvas ready for a frame; with a GPU all frames are fine. */
  prepare(isFine: boolean): void {
    this.#isFine = isFine || !this.#isSoftware;
    this.#resize(this.#size.width, this.#size.height, this.#isFine ? FINE : COARSE);
  }

  /** Draws a frame; the colour of the background is exact, tone mapping leaves it alone. */
  render(scene: Scene, camera: Camera, background: string): void {
    this.#renderer.setClearColor(background);
    this.#renderer.render(scene, camera);
  }

  /** Returns what `draw` draws as a PNG of that size, base64; the canvas must be drawn again. */
  picture(width: number, height: number, draw: () => void): string {
    this.#resize(width, height, FINE);
    draw();
    const copy = document.createElement('canvas');
    copy.width = width;
    copy.height = height;
    const context = copy.getContext('2d');
    if (context === null) throw new Error('the browser gives no canvas for the picture; try again');
    context.imageSmoothingQuality = 'high';
    // A canvas without a copy of its own has its picture only until the task ends.
    context.drawImage(this.#canvas, 0, 0, width, height);
    const [, data = ''] = copy.toDataURL('image/png').split(',');
    return data;
  }

  /** Ends it and frees what it holds. */
  close(): void {
    this.#resizes.disconnect();
    this.#renderer.dispose();
  }

  #measure(): boolean {
    const width = Math.max(1, this.#canvas.clientWidth);
    const height = Math.max(1, this.#canvas.clientHeight);
    const isOther = width !== this.#size.width || height !== this.#size.height;
    this.#size = { width, height };
    return isOther;
  }

  #resize(width: number, height: number, wanted: number): void {
    const ratio = Math.min(wanted, Math.max(1, Math.sqrt(MOST_PIXELS / (width * height))));
    const isSame =
      this.#canvas.width === Math.floor(width * ratio) &&
      this.#canvas.height === Math.floor(height * ratio);
    // Setting the size empties the canvas, even to the same one.
    if (isSame) return;
    this.#renderer.setPixelRatio(ratio);
    this.#renderer.setSize(width, height, false);
  }
}

function isSoftware(context: WebGLRenderingContext | WebGL2RenderingContext): boolean {
  const extension = context.getExtension('WEBGL_debug_renderer_info');
  const name: unknown = extension && context.getParameter(extension.UNMASKED_RENDERER_WEBGL);
  return /swiftshader|llvmpipe|software|basic render/i.test(String(name));
}
