/**
 * What can be undone and redone: states before and after the present one.
 *
 * Never changed in place. Steps with the same `gesture` are one, so that a drag is undone at once.
 * It keeps whole states, which share whatever did not change between them.
 */

/** How many steps can be undone; the oldest are forgotten. */
export const HISTORY_STEPS = 100;

export interface History<T> {
  readonly past: readonly T[];
  readonly present: T;
  readonly future: readonly T[];
  /** The gesture that made the present, while it lasts. */
  readonly gesture?: string;
}

/** Returns a history in which nothing has happened. */
export function begin<T>(present: T): History<T> {
  return { past: [], present, future: [] };
}

/** Returns the history after one more step; the same when the state is the same object. */
export function record<T>(history: History<T>, present: T, gesture?: string): History<T> {
  if (present === history.present) return history;
  const isContinued = gesture !== undefined && gesture === history.gesture;
  const past = isContinued ? history.past : [...history.past, history.present];
  const kept = { past: past.slice(-HISTORY_STEPS), present, future: [] };
  return gesture === undefined ? kept : { ...kept, gesture };
}

/** Returns the history some steps back, as far as there are any. */
export function undo<T>({ past, present, future }: History<T>, steps = 1): History<T> {
  const taken = Math.min(steps, past.length);
  if (taken === 0) return { past, present, future };
  const [target, ...undone] = [...past.slice(past.length - taken), present];
  if (target === undefined) return { past, present, future };
  return {
    past: past.slice(0, past.length - taken),
    present: target,
    future: [...undone, ...future],
  };
}

/** Returns the history one step forward again, if there is one. */
export function redo<T>({ past, present, future }: History<T>): History<T> {
  const [next, ...rest] = future;
  if (next === undefined) return { past, present, future };
  return { past: [...past, present], present: next, future: rest };
}
