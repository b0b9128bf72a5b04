/**
 * The reconnecting client of `tabwire.v1`, for extension, SDK, viewer and dashboard.
 *
 * Reading order: `client.ts` wires the pieces; `connector.ts`, `connection.ts`, `proof.ts`,
 * `turns.ts` and `compression.ts` are about sockets; `send-log.ts`, `sender.ts`, `receiver.ts` and `acks.ts`
 * about losing nothing; `calls.ts` and `state-feed.ts` about what peers are for. Types are in
 * `generated/`.
 */

import { Client } from './client';
import type { ClientOptions } from './options';

export type { CallContext, CallHandler } from './calls';
export type { Client } from './client';
export { type Clock, systemClock } from './clock';
export type { HubUrl, Status } from './connector';
export type * from './generated/protocol';
export { PayloadError } from './json';
export type { Memory, Snapshot } from './memory';
export type { Call } from './messages';
export type { ClientOptions } from './options';
export { type Carriage, type Credentials, Prover } from './proof';
export type { ReconnectLimits } from './reconnect';
export { type CallEnd, memoryResults, type ResultStore } from './result-store';
export type { LogLimits } from './send-log';
export {
  isInstanceId,
  type Socket,
  type SocketConstructor,
  SUBPROTOCOL,
  socketUrl,
} from './socket';
export type { StateHandler } from './state-feed';
export { isRecord, messageOf } from './values';

/** Connects to a hub and stays connected until `close`. */
export function connect(options: ClientOptions): Client {
  return new Client(options);
}
export { fromBase64Url, toBase64Url } from './base64url';
