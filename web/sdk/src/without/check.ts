/**
 * Stands in for the door of `@tabwire/shared` where the SDK is built: the tables that describe every
 * field of every message would be a tenth of it.
 *
 * A page does whatever its hub says, so it takes the hub's word for the fields of messages too. What
 * is no message, or of an unknown type, still ends the connection.
 */

import { type Event, isRecord, type ToBrowser } from '@tabwire/shared';

/** The hub broke the protocol; the connection is of no use any more. */
export class ProtocolError extends Error {}

/** Reads one frame from the hub, or throws a `ProtocolError`. */
export function parseFrame(data: unknown): ToBrowser {
  try {
    const value: unknown = JSON.parse(`${data}`);
    if (isRecord(value) && typeof value.type === 'string') return value as unknown as ToBrowser;
  } catch {
    // Said below.
  }
  throw new ProtocolError('a frame that is no message');
}

/** Reads the text of a compressed frame; a page gets none. */
export const parsePage = parseFrame;

/** Takes a message out of a replay page. */
export function asEvent(value: unknown): Event {
  return value as Event;
}
