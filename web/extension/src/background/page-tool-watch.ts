/**
 * Tells the hub which tools the pages of driven tabs declare, as they change.
 *
 * A page's tools are listed when it is ready and whenever it says that they are others; they are
 * told only if they differ from what was told, and end with their document. Pages that nobody
 * drives are asked only when a client wants to know, which is not done here.
 */

import type { ToolSpec } from '@tabwire/shared';
import { ignore } from '../driver/common/time-limits';

/** How long changes are gathered: a page declares its tools one by one. */
const GATHER_MS = 50;
/** How often a page that cannot be seen just now is looked at, and the time in between. */
const LOOKS = 5;
const AGAIN_MS = 500;

export interface WatchParts {
  isDriven(tabId: number): boolean;
  /** Lists the tools of a tab's page; undefined means that it cannot be seen just now. */
  discover(tabId: number): Promise<readonly ToolSpec[] | undefined>;
  /** Tells the hub all tools of a tab. */
  tell(tools: readonly ToolSpec[], tabId: number): void;
}

export class PageToolWatch {
  readonly #parts: WatchParts;
  /** What was told of each tab that has any, as text. */
  readonly #told = new Map<number, string>();
  readonly #gathering = new Set<number>();
  /** The newest look that is under way at each tab: what an older one finds is not news. */
  readonly #looks = new Map<number, symbol>();

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** Notes that a page may declare other tools than before. */
  changed(tabId: number): void {
    if (this.#gathering.has(tabId) || !this.#parts.isDriven(tabId)) return;
    this.#gathering.add(tabId);
    setTimeout(() => {
      this.#gathering.delete(tabId);
      ignore(this.#look(tabId));
    }, GATHER_MS);
  }

  /** Notes that a tab shows another document: what the old one declared is gone. */
  left(tabId: number): void {
    const wasLooking = this.#looks.delete(tabId);
    this.#tell(tabId, []);
    // It may have been at the new document: that it is ready can be heard before that it is there.
    if (wasLooking) this.changed(tabId);
  }

  /** Notes that a tab is gone, which the hub is told by others. */
  removed(tabId: number): void {
    this.#looks.delete(tabId);
    this.#told.delete(tabId);
  }

  async #look(tabId: number): Promise<void> {
    const look = Symbol('look');
    this.#looks.set(tabId, look);
    for (let number = 0; number < LOOKS; number++) {
      if (number > 0) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      if (this.#looks.get(tabId) !== look) return;
      const tools = await this.#parts.discover(tabId);
      if (this.#looks.get(tabId) !== look) return;
      if (tools === undefined) continue;
      this.#tell(tabId, tools);
      break;
    }
    this.#looks.delete(tabId);
  }

  #tell(tabId: number, tools: readonly ToolSpec[]): void {
    const text = tools.length === 0 ? undefined : JSON.stringify(tools);
    if (this.#told.get(tabId) === text) return;
    if (text === undefined) this.#told.delete(tabId);
    else this.#told.set(tabId, text);
    this.#parts.tell(tools, tabId);
  }
}
