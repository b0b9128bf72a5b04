/**
 * Starts the driver: all listeners at once, synchronously, as a worker that wakes up must.
 *
 * What an earlier worker left (dialogs, emulation, a trace, attachments) is read afterwards; calls wait for it.
 */

import { registerAwake } from './awake';
import { registerConsole } from './console';
import { adoptAttachments, registerDebugger } from './debugger';
import { registerDialogs, restoreDialogs } from './dialogs';
import { registerDocuments } from './documents';
import { registerEmulation, restoreEmulation } from './emulation';
import { type Emit, sendEventsTo } from './events';
import { registerNetwork } from './network';
import { registerSignals } from './signals';
import { registerTracing, restoreTracing } from './tracing';

let restored: Promise<void> | undefined;

/** Registers every listener of the driver; call it once, at the top level of the worker. */
export function registerDriver(emit?: Emit): void {
  if (emit !== undefined) sendEventsTo(emit);
  registerDebugger();
  registerSignals();
  registerDialogs();
  registerDocuments();
  registerNetwork();
  registerConsole();
  registerAwake();
  registerEmulation();
  registerTracing();
  driverReady().catch(() => {});
}

/** Settles when what an earlier worker left is known. */
export function driverReady(): Promise<void> {
  restored ??= restore();
  return restored;
}

async function restore(): Promise<void> {
  // Dialogs first: an attachment whose tab shows one is adopted without talking to it.
  await restoreDialogs();
  // Who keeps a tab attached must be known before anybody could let it go.
  await Promise.all([restoreEmulation(), restoreTracing()]);
  await adoptAttachments();
}
