/**
 * Makes a command of a name and its work; what it takes and is about comes from its contract.
 */

import { type Command, readArguments, type ValuesOf } from '../command';
import type { Caller, Page } from '../driver/page/page';
import type { Results } from '../generated/command-results';
import { CONTRACTS } from './generated/contracts';

type Contracts = typeof CONTRACTS;
type Name = keyof Contracts;
type On<N extends Name> = Contracts[N]['on'] extends 'browser' ? Caller : Page;
type ResultOf<N extends Name> = N extends keyof Results ? Results[N] : unknown;
type Work<N extends Name> = (
  on: On<N>,
  args: ValuesOf<Contracts[N]['args']>,
) => Promise<ResultOf<N>>;

/** Makes a command: its work gets the page, or the caller where it needs no tab. */
export function defineCommand<N extends Name>(name: N, work: Work<N>): Command {
  const { effect, on, answersDialog, args: known }: Contracts[Name] = CONTRACTS[name];
  const bind = (args: unknown) => {
    // The contract of this very name says what both are.
    const values = readArguments(name, known, args) as ValuesOf<Contracts[N]['args']>;
    return (place: Caller | Page) => work(place as On<N>, values);
  };
  return { name, effect, on, answersDialog, bind };
}
