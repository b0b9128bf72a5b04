/**
 * Events of the debugger, for whoever wants them, and the name of each tab's top frame.
 *
 * Apart from `debugger.ts` so that those who listen need not know who is attached.
 */

import type { Fields } from '../fields';

/** `sessionId` names the frame of another process that it comes from; nothing for the tab itself. */
type EventListener = (
  tabId: number,
  method: string,
  params: Fields,
  sessionId: string | undefined,
) => void;

/** Our own news, among Chrome's: the debugger sees a tab from now on, or does not any more. */
export const ATTACHED = 'Tabwire.attached';
export const DETACHED = 'Tabwire.detached';

const listeners = new Set<EventListener>();
const topFrames = new Map<number, string>();

/** Hears the events of all attached tabs, until the returned function is called. */
export function onDebuggerEvent(listener: EventListener): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

export function emitDebuggerEvent(
  tabId: number,
  method: string,
  params: Fields,
  sessionId?: string,
): void {
  for (const listener of [...listeners]) listener(tabId, method, params, sessionId);
}

/** Returns the debugger's name of a tab's top frame, while attached. */
export function topFrameOf(tabId: number): string | undefined {
  return topFrames.get(tabId);
}

export function setTopFrame(tabId: number, frame: string | undefined): void {
  if (frame === undefined) topFrames.delete(tabId);
  else topFrames.set(tabId, frame);
}
