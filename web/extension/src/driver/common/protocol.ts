/**
 * The debugger protocol as the browser's makers describe it: types only, nothing of it is shipped.
 */

import type { Protocol } from 'devtools-protocol';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping';

export type { Protocol };

type Commands = ProtocolMapping.Commands;

/** Our own news among the browser's: the debugger sees a tab from now on, or does not any more. */
interface Events extends ProtocolMapping.Events {
  'Tabwire.attached': [object];
  'Tabwire.detached': [object];
}

export type CommandName = keyof Commands;
export type ParamsOf<M extends CommandName> = Commands[M]['paramsType'][0];
export type ResultOf<M extends CommandName> = Commands[M]['returnType'];
export type EventName = keyof Events;
export type EventOf<E extends EventName> = Events[E][0];

/** Sends a command and returns its answer. */
export type Send = <M extends CommandName>(method: M, params?: ParamsOf<M>) => Promise<ResultOf<M>>;

/** A command to be sent. */
export type ProtocolCommand = {
  readonly [M in CommandName]: { readonly method: M; readonly params?: ParamsOf<M> };
}[CommandName];
