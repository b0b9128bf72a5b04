/**
 * Finds out why there is no connection, and says it in words for the page.
 *
 * A browser tells a page nothing about a socket that did not open. But a request whose answer the
 * page may not read still succeeds when anybody answers, so a hub that refuses can be told from one
 * that is not there; and the browser says what it has forbidden itself.
 */

import type { Reason } from './options';
import { isLoopback, type Page } from './page';

/** Why there is no connection. */
export interface Diagnosis {
  readonly reason: Reason;
  readonly message: string;
}

/** Long, because the browser may ask the user first. */
const ANSWER_WITHIN_MS = 30_000;
/** What its user can press in the extension, for pages that it does not know. */
const PRESS = 'press "Let this page connect" in the Tabwire extension';
/** What Chrome asks the user for; the second is the older name. */
const PERMISSIONS = ['loopback-network', 'local-network-access'];

/** Returns whether waiting does not help: somebody has to do something. */
export function isRefusal(reason: Reason | undefined): boolean {
  return reason !== undefined && reason !== 'hub_not_running' && reason !== 'lost';
}

/** Explains the end of a connection by the last word of the hub, or of the extension. */
export function explain(word: string | undefined, said: string, mayReturn: boolean): Diagnosis {
  if (word === 'instance_in_use' || word === 'superseded') {
    return { reason: 'taken', message: 'another page has this session; close it and reload' };
  }
  if (word === 'not_allowed_yet' || word === 'origin_not_allowed') {
    return { reason: word, message: said };
  }
  if (!mayReturn) return { reason: 'refused', message: said };
  return { reason: 'lost', message: word ? said : 'the connection was lost' };
}

/** Looks why a socket of the page's own did not open. */
export async function diagnose(page: Page, hub: string): Promise<Diagnosis> {
  const { origin } = page.location;
  const { answers, isBlocked } = await knock(page, hub);
  if (isBlocked) {
    const message = `the page's policy forbids ${hub}; add it to connect-src or ${PRESS}`;
    return { reason: 'page_policy', message };
  }
  if (answers && isLoopback(page)) {
    const message = `${hub} takes no connection; is it a Tabwire hub?`;
    return { reason: 'refused', message };
  }
  if (answers) {
    const message = `the hub refuses pages from ${origin}; ${PRESS}, or give the hub --allow-origin '${origin}'`;
    return { reason: 'origin_not_allowed', message };
  }
  if (await isForbidden(page)) {
    const message = `the browser does not let ${origin} reach this machine; ${PRESS}, or allow it in the site settings`;
    return { reason: 'local_network_refused', message };
  }
  const message = `no hub answers at ${hub}; start one with: tabwire serve`;
  return { reason: 'hub_not_running', message };
}

async function knock(page: Page, hub: string): Promise<{ answers: boolean; isBlocked: boolean }> {
  let isBlocked = false;
  const note = ({ blockedURI }: { readonly blockedURI: string }) => {
    isBlocked ||= blockedURI.startsWith(new URL(hub).origin);
  };
  page.document.addEventListener('securitypolicyviolation', note);
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    await page.fetch(`${hub}/health`, { mode: 'no-cors', cache: 'no-store', signal });
    return { answers: true, isBlocked };
  } catch {
    // The violation is told in a task of its own.
    await new Promise((resolve) => setTimeout(resolve));
    return { answers: false, isBlocked };
  } finally {
    page.document.removeEventListener('securitypolicyviolation', note);
  }
}

/** Pages from this machine need no permission, whatever the browser says about it. */
async function isForbidden(page: Page): Promise<boolean> {
  if (isLoopback(page)) return false;
  for (const name of PERMISSIONS) {
    try {
      const found = await page.navigator.permissions?.query({ name });
      if (found !== undefined) return found.state !== 'granted';
    } catch {
      // This browser does not know the name.
    }
  }
  return false;
}
