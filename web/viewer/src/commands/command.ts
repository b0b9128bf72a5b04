/**
 * What a command is: checked arguments and the present state in, one change out.
 *
 * Commands are pure: they read a state and name a change, and neither draw nor send. Setters
 * refuse what is beyond a limit. Relative moves go as far as they can and say where they stopped.
 */

import { type Arguments, readArguments, type ValuesOf } from '../arguments';
import { clamp, type Limits } from '../math/angles';
import type { Change, ViewerState } from '../state';

/** What a command wants to happen. */
export interface Outcome {
  readonly change: Change;
  /** What the caller should know besides, such as a limit that was reached. */
  readonly note?: string;
}

/** Reads arguments as they came and says what should happen, or throws an `ArgumentError`. */
export type Command = (state: ViewerState, given: unknown) => Outcome;

/** From a command's name on the wire to the command. */
export type Commands = Readonly<Record<string, Command>>;

/** Makes a command of a table of arguments and what it does with them. */
export function defineCommand<A extends Arguments>(
  table: A,
  plan: (state: ViewerState, values: ValuesOf<A>) => Change | Outcome,
): Command {
  return (state, given) => {
    const planned = plan(state, readArguments(table, given));
    return 'change' in planned ? planned : { change: planned };
  };
}

/** Returns the outcome of a move to `wanted`, with a note where the limits cut it short. */
export function moveTo(
  what: string,
  wanted: number,
  limits: Limits,
  change: (value: number) => Change,
): Outcome {
  const reached = clamp(wanted, limits);
  const outcome = { change: change(reached) };
  if (reached === wanted) return outcome;
  return {
    ...outcome,
    note: `${what} stopped at ${reached}; it goes from ${limits.min} to ${limits.max}`,
  };
}
