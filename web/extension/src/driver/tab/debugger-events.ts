/**
 * Events of the debugger, for whoever wants them, and the name of each tab's top frame.
 *
 * Apart from `debugger.ts` so that those who listen need not know who is attached.
 */

import type { EventName, EventOf } from '../common/protocol';
import { TabPart } from './tab-state';

/** `sessionId` names the frame of another process that it comes from; nothing for the tab itself. */
type EventListener<E extends EventName> = (
  tabId: number,
  params: EventOf<E>,
  sessionId: string | undefined,
) => void;

const listeners = new Map<string, Set<EventListener<never>>>();

/** The debugger's names of the top frames, while attached. */
export const topFrames = new TabPart<string>(['attachment']);

/** Hears an event of all attached tabs, until the returned function is called. */
export function onDebuggerEvent<E extends EventName>(
  name: E,
  listener: EventListener<E>,
): () => void {
  const all = listeners.get(name) ?? new Set();
  listeners.set(name, all.add(listener));
  return () => {
    all.delete(listener);
  };
}

/** Tells who listens; the browser's word for its shape is taken. */
export function emitDebuggerEvent(
  tabId: number,
  name: string,
  params: object,
  sessionId?: string,
): void {
  for (const listener of [...(listeners.get(name) ?? [])]) {
    Reflect.apply(listener, undefined, [tabId, params, sessionId]);
  }
}
