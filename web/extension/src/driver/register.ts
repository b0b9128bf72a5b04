/**
 * Starts the driver: all listeners at once, synchronously, as a worker that wakes up must.
 *
 * What an earlier worker left (dialogs, emulation, a trace, requests, mocks, attachments) is read
 * afterwards; calls wait for it.
 */

import { type Emit, sendEventsTo } from './common/hub-events';
import { registerEmulation, restoreEmulation, resumeEmulation } from './emulation/emulation';
import { registerNetwork } from './network/pending-requests';
import { forgetUnwatched } from './network/request-log';
import { registerRequestNews } from './network/request-news';
import { registerRequests, requestsReady } from './network/request-reader';
import { registerTabRules, restoreRules } from './network/tab-rules';
import { registerAwake } from './page/worker-port';
import { registerConsole } from './reading/console';
import { registerTracing, restoreTracing } from './reading/tracing';
import { registerChildSessions } from './tab/child-sessions';
import { adoptAttachments, isAttached, registerDebugger } from './tab/debugger';
import { registerDialogs, restoreDialogs } from './tab/dialogs';
import { registerDocuments } from './tab/documents';
import { registerSignals } from './tab/signals';

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
