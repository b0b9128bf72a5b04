/**
 * Whether to come back, and when.
 *
 * At once, then in a steady beat for the first seconds (a hub that restarts is back by then),
 * then after a random time below a limit that doubles, so that a thousand peers do not come
 * back in step. Pure arithmetic: the owner tells the time and does the waiting.
 */

export interface ReconnectLimits {
  /** The least time between two attempts in the beginning. */
  readonly beatMs: number;
  /** How long the beginning is. */
  readonly beatForMs: number;
  /** The limit of the random wait after that; doubles with each attempt. */
  readonly firstLimitMs: number;
  /** Where doubling ends. */
  readonly lastLimitMs: number;
  /** A connection that held this long ends the trouble. */
  readonly stableMs: number;
}

/** What the protocol asks for. */
export const DEFAULT_RECONNECT_LIMITS: ReconnectLimits = {
  beatMs: 500,
  beatForMs: 5_000,
  firstLimitMs: 1_000,
  lastLimitMs: 30_000,
  stableMs: 5_000,
};

export class ReconnectPolicy {
  readonly #limits: ReconnectLimits;
  readonly #random: () => number;
  /** When the trouble began; none while all is well. */
  #troubleSince: number | undefined;
  #attemptAt = Number.NEGATIVE_INFINITY;
  #limitMs: number;

  constructor(limits: ReconnectLimits, random: () => number) {
    this.#limits = limits;
    this.#random = random;
    this.#limitMs = limits.firstLimitMs;
  }

  /** Notes that an attempt is being made. */
  attempt(now: number): void {
    this.#attemptAt = now;
  }

  /** Returns how long to wait after a loss; `welcomedAt` is none when there was no welcome. */
  lost(now: number, welcomedAt: number | undefined): number {
    if (welcomedAt !== undefined && now - welcomedAt >= this.#limits.stableMs) this.#calm();
    if (this.#troubleSince === undefined) {
      this.#troubleSince = now;
      return 0;
    }
    if (now - this.#troubleSince < this.#limits.beatForMs) {
      return Math.max(0, this.#attemptAt + this.#limits.beatMs - now);
    }
    const limitMs = this.#limitMs;
    this.#limitMs = Math.min(limitMs * 2, this.#limits.lastLimitMs);
    return this.#random() * limitMs;
  }

  #calm(): void {
    this.#troubleSince = undefined;
    this.#limitMs = this.#limits.firstLimitMs;
  }
}

/** Tells by a close code whether to come back; 1005 and 1006 mean that nobody said anything. */
export function mayReturn(code: number): boolean {
  return [1001, 1005, 1006, 1012, 1013].includes(code) || (code >= 4000 && code <= 4499);
}
