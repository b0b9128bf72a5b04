/**
 * Starts the driver: all listeners at once, synchronously, as a worker that wakes up must.
 *
 * What an earlier worker left (dialogs, emulation, a trace, requests, mocks, attachments) is read
 * afterwards; calls wait for it.
 */

import { registerAwake } from './awake';
import { registerChildSessions } from './child-sessions';
import { registerConsole } from './console';
import { adoptAttachments, isAttached, registerDebugger } from './debugger';
import { registerDialogs, restoreDialogs } from './dialogs';
import { registerDocuments } from './documents';
import { registerEmulation, restoreEmulation, resumeEmulation } from './emulation';
import { type Emit, sendEventsTo } from './events';
import { registerNetwork } from './network';
import { forgetUnwatched } from './request-log';
import { registerRequestNews } from './request-news';
import { registerRequests, requestsReady } from './request-reader';
import { registerSignals } from './signals';
import { registerTabRules, restoreRules } from './tab-rules';
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
  registerChildSessions();
  registerRequests();
  registerRequestNews();
  registerTabRules();
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
  resumeEmulation();
  await Promise.all([requestsReady(), restoreRules()]);
  forgetUnwatched(isAttached);
}
