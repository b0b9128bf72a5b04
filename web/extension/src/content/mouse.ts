/**
 * Where the mouse was last seen in this document.
 *
 * Chrome sends input that is meant for a frame which it has not drawn yet to the document around
 * it. Nobody is told, so the frame itself says whether a move has come.
 */

// Events tell whole pixels, and places of frames are added up.
const NEAR_PX = 2;

export class Mouse {
  #last: { readonly x: number; readonly y: number } | null = null;
  readonly #note = (event: MouseEvent): void => {
    if (event.isTrusted) this.#last = { x: event.clientX, y: event.clientY };
  };

  /** Forgets where it was, and looks out for where it comes. */
  expect(): void {
    this.#last = null;
    // What is meant for the top reaches it.
    if (window === top) return;
    // Added once, however often this is called.
    addEventListener('mousemove', this.#note, true);
  }

  /** Tells whether the last move since then came to this point. */
  isAt(x: number, y: number): boolean {
    const last = this.#last;
    return last !== null && Math.hypot(last.x - x, last.y - y) <= NEAR_PX;
  }

  stop(): void {
    removeEventListener('mousemove', this.#note, true);
  }
}
