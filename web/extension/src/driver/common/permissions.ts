/**
 * What listeners of the driver may do without being called: whose tabs are driven, which sites
 * are let alone.
 *
 * Listeners hear the browser before the worker has read the user's settings, so the questions wait
 * until somebody can answer them.
 */

import { deferred } from './time-limits';

export interface Permissions {
  /** Whether the user lets clients use an address. */
  allows(url: string): boolean;
  /** Whether a client drives a tab. */
  drives(tabId: number): boolean;
}

const { promise, resolve } = deferred<Permissions>();

/** Says who answers. */
export function providePermissions(permissions: Permissions): void {
  resolve(permissions);
}

/** Returns who answers, once there is somebody. */
export function permissions(): Promise<Permissions> {
  return promise;
}
