/**
 * A port to the worker: its death closes it, and opening it again wakes the worker.
 */

const SHORT_LIFE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

export class WakePort {
  #port: chrome.runtime.Port | null = null;
  #isWanted = false;
  #pauseMs = 0;

  /** Opens the port and keeps it open. */
  keep(): void {
    this.#isWanted = true;
    if (!this.#port) this.#open();
  }

  close(): void {
    this.#isWanted = false;
    this.#port?.disconnect();
    this.#port = null;
  }

  #open(): void {
    // Without an id the extension was removed or reloaded: this script is an orphan.
    if (!this.#isWanted || !chrome.runtime?.id) return;
    const openedAt = performance.now();
    try {
      this.#port = chrome.runtime.connect({ name: 'awake' });
    } catch {
      this.#isWanted = false;
      return;
    }
    this.#port.onDisconnect.addListener(() => {
      void chrome.runtime?.lastError;
      this.#port = null;
      const livedMs = performance.now() - openedAt;
      // A worker that cannot start must not be asked in a loop.
      this.#pauseMs = livedMs > SHORT_LIFE_MS ? 0 : Math.max(250, this.#pauseMs * 2);
      this.#pauseMs = Math.min(this.#pauseMs, LONGEST_PAUSE_MS);
      if (this.#pauseMs === 0) this.#open();
      else setTimeout(() => this.#open(), this.#pauseMs);
    });
  }
}
