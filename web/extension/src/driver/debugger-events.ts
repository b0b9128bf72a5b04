/**
 * Events of the debugger, for whoever wants them, and the name of each tab's top frame.
 *
 * Apart from `debugger.ts` so that those who listen need not know who is attached.
 */

import type { Fields } from './fields';

type EventListener = (tabId: number, method: string, params: Fields) => void;

const listeners = new Set<EventListener>();
const topFrames = new Map<number, string>();

/** Hears the events of all attached tabs, until the returned function is called. */
export function onDebuggerEvent(listener: EventListener): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

export function emitDebuggerEvent(tabId: number, method: string, params: Fields): void {
  for (const listener of [...listeners]) listener(tabId, method, params);
}

/** Returns the debugger's name of a tab's top frame, while attached. */
export function topFrameOf(tabId: number): string | undefined {
  return topFrames.get(tabId);
}

export function setTopFrame(tabId: number, frame: string | undefined): void {
  if (frame === undefined) topFrames.delete(tabId);
  else topFrames.set(tabId, frame);
}
