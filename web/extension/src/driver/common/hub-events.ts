/**
 * The way from the driver's listeners to the hub.
 *
 * Listeners run before anyone has connected, so they speak through here; what is said while
 * nobody listens is dropped, as it is no news to anyone.
 */

/** Sends an event to the hub. */
export type Emit = (name: string, data: unknown, level?: 'error' | 'info' | 'warning') => void;

let sink: Emit = () => {};

/** Says where events go. */
export function sendEventsTo(emit: Emit): void {
  sink = emit;
}

export const emitEvent: Emit = (name, data, level) => sink(name, data, level);
