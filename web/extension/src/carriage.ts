/**
 * What travels between a page that is carried, its content script and the worker.
 *
 * The content script passes on what passes the check and understands none of it; the worker trusts
 * nothing of it, for the page may say anything.
 */

import { isRecord, isText } from './check';

/** The name of the port between content script and worker. */
export const CARRIER = 'carrier';

/** What the content script asks when it begins: whether its page's origin is one to be carried. */
export const MAY_CARRY = { type: 'mayCarry' } as const;

export function isMayCarry(value: unknown): boolean {
  return isRecord(value) && value.type === MAY_CARRY.type;
}

/** What a page says; `open` comes first. */
export type FromPage =
  | { readonly type: 'open'; readonly instanceId: string }
  | { readonly type: 'frame'; readonly data: string }
  | { readonly type: 'close'; readonly code?: number; readonly reason?: string };

/** What it is told; after `close` nothing comes. */
export type ToPage =
  | { readonly type: 'open' }
  | { readonly type: 'frame'; readonly data: string }
  | { readonly type: 'close'; readonly code: number; readonly reason: string };

export function isFromPage(value: unknown): value is FromPage {
  if (!isRecord(value)) return false;
  switch (value.type) {
    case 'open':
      return isText(value.instanceId);
    case 'frame':
      return isText(value.data);
    case 'close':
      return (
        (value.code === undefined || typeof value.code === 'number') &&
        (value.reason === undefined || isText(value.reason))
      );
    default:
      return false;
  }
}
