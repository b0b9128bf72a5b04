/**
 * Starts the driver: all listeners at once, synchronously, as a worker that wakes up must.
 *
 * What an earlier worker left (dialogs, emulation, a trace, requests, mocks, attachments) is read
 * afterwards; calls wait for it.
 */

import { type Emit, sendEventsTo } from './common/hub-events';
import { registerEmulation, resumeEmulation } from './emulation/emulation';
import { registerPendingRequests } from './network/pending-requests';
import { registerRequestNews } from './network/request-news';
import { registerRequests, requestsReady } from './network/request-reader';
import { registerTabRules, resumeRules } from './network/tab-rules';
import { registerConsole } from './reading/console';
import { registerTracing } from './reading/tracing';
import { registerChildSessions } from './tab/child-sessions';
import { adoptAttachments, registerDebugger } from './tab/debugger';
import { registerDialogs } from './tab/dialogs';
import { registerSignals } from './tab/signals';
import { registerTabState, tabsRestored } from './tab/tab-state';

let restored: Promise<void> | undefined;

/** Registers every listener of the driver; call it once, at the top level of the worker. */
export function registerDriver(emit?: Emit): void {
  if (emit !== undefined) sendEventsTo(emit);
  registerDebugger();
  // What happens to a tab is told before anything ends by it.
  registerSignals();
  registerTabState();
  registerDialogs();
  registerPendingRequests();
  registerConsole();
  registerChildSessions();
  registerRequests();
  registerRequestNews();
  registerTabRules();
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
  // First: a tab that shows a dialog is adopted without talking to it, and who keeps a tab attached
  // must be known before anybody could let it go.
  await tabsRestored();
  await adoptAttachments();
  resumeEmulation();
  resumeRules();
  await requestsReady();
}
