/**
 * Tells the hub of requests that have ended, in tabs that are driven.
 *
 * Only what says something about what a page does: its documents, calls and sockets. A page that
 * asks in a loop must not push everything else out of the hub's memory, so beyond a number per
 * second it is only told how many there were. Sites that the user keeps from clients are not told.
 */

import { emitEvent } from '../common/hub-events';
import { permissions } from '../common/permissions';
import { ignore } from '../common/time-limits';
import { EventRate } from '../tab/event-rate';
import { isFailed, type RequestEntry, shortUrl } from './request-entry';
import { onRequestEnd } from './request-log';

const TOLD_RESOURCE_TYPES = new Set(['document', 'xhr', 'fetch', 'websocket']);

const rate = new EventRate((tabId, dropped) => emitEvent('network', { tabId, dropped }));

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerRequestNews(): void {
  onRequestEnd((tabId, entry) => {
    if (TOLD_RESOURCE_TYPES.has(entry.resourceType)) ignore(tell(tabId, entry));
  });
}

async function tell(tabId: number, entry: RequestEntry): Promise<void> {
  const { allows, drives } = await permissions();
  if (!drives(tabId) || !allows(entry.url) || !allows(entry.documentUrl)) return;
  if (!rate.mayTell(tabId)) return;
  const { id, method, url, resourceType, status, error, ms } = entry;
  const told = { tabId, id: String(id), method, url: shortUrl(url), resourceType };
  emitEvent('network', { ...told, status, error, ms }, isFailed(entry) ? 'warning' : 'info');
}
