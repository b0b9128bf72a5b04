/**
 * Tells the hub of requests that have ended, in tabs that are driven.
 *
 * Only what says something about what a page does: its documents, calls and sockets. A page that
 * asks in a loop must not push everything else out of the hub's memory, so beyond a number per
 * second it is only told how many there were. Sites that the user keeps from clients are not told.
 */

import { emitEvent } from '../common/hub-events';
import { judge } from '../common/permissions';
import { ignore } from '../common/time-limits';
import { type Entry, isFailed, shortUrl } from './request-entry';
import { onRequestEnd } from './request-log';

/** Requests of a tab that are told as events in a second. */
const TOLD_PER_SECOND = 50;
const TOLD = new Set(['document', 'xhr', 'fetch', 'websocket']);

interface Second {
  told: number;
  dropped: number;
}

const seconds = new Map<number, Second>();

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerRequestNews(): void {
  onRequestEnd((tabId, entry) => {
    if (TOLD.has(entry.resourceType)) ignore(tell(tabId, entry));
  });
}

async function tell(tabId: number, entry: Entry): Promise<void> {
  const { allows, drives } = await judge();
  if (!drives(tabId) || !allows(entry.url) || !allows(entry.documentUrl)) return;
  const second = secondOf(tabId);
  if (second.told >= TOLD_PER_SECOND) {
    second.dropped++;
    return;
  }
  second.told++;
  const { id, method, url, resourceType, status, error, ms } = entry;
  const told = { tabId, id: String(id), method, url: shortUrl(url), resourceType };
  emitEvent('network', { ...told, status, error, ms }, isFailed(entry) ? 'warning' : 'info');
}

function secondOf(tabId: number): Second {
  const known = seconds.get(tabId);
  if (known !== undefined) return known;
  const second = { told: 0, dropped: 0 };
  seconds.set(tabId, second);
  setTimeout(() => {
    seconds.delete(tabId);
    if (second.dropped > 0) emitEvent('network', { tabId, dropped: second.dropped });
  }, 1_000);
  return second;
}
