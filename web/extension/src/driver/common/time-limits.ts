/**
 * Waiting with limits: nothing in a browser is sure to answer.
 *
 * Open dialogs, frozen tabs, replaced documents and hanging scripts leave promises pending for
 * good, so every wait is raced with a time limit and with the call's abort signal.
 */

import { CommandError } from '../../command';

/** How long a call may still take, and whether it is still wanted. */
export interface Limits {
  readonly signal: AbortSignal;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
}

/** Returns the milliseconds that are left, at most `most`. */
export function remaining(limits: Limits, most = Infinity): number {
  return Math.max(0, Math.min(most, limits.endsAt - performance.now()));
}

// What is found out at the last moment must still be told.
const TELLING_MS = 150;

/** Returns how long a wait may take that has something to tell when it was in vain. */
export function answerable(limits: Limits, most: number): number {
  return Math.max(0, Math.min(most, remaining(limits) - TELLING_MS));
}

/** Waits for `work`, but no longer than `limitMs` and not beyond the call's end. */
export async function within<T>(
  work: Promise<T>,
  limits: Limits,
  limitMs: number,
  late: () => Error,
): Promise<T> {
  limits.signal.throwIfAborted();
  const { promise, reject } = deferred<never>();
  const timer = setTimeout(() => reject(late()), remaining(limits, limitMs));
  const onAbort = () => reject(limits.signal.reason);
  limits.signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    limits.signal.removeEventListener('abort', onAbort);
  }
}

/** Sleeps, unless the call is withdrawn. */
export async function pause(limits: Limits, milliseconds: number): Promise<void> {
  const { promise, resolve } = deferred<void>();
  // Not cut to what remains: a sleep that could not be slept out must not look like one that was.
  const timer = setTimeout(resolve, milliseconds);
  try {
    await within(promise, limits, Infinity, tooLate);
  } finally {
    clearTimeout(timer);
  }
}

/** A promise and its two ends. */
export function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // Whoever loses a race is not waited for, and must not count as unhandled.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

function tooLate(): Error {
  return new CommandError('TIMEOUT', "the call's time is over");
}

/** Lets a promise fail without anybody waiting for it. */
export function ignore(promise: Promise<unknown>): void {
  promise.catch(() => {});
}
