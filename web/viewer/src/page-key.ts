/**
 * The key of a page that is opened on another machine than the hub's.
 *
 * The link that the user opens has a one-time code in its fragment: `/viewer/#code=…`. It is traded
 * for a key at the hub that serves the page, and the key is kept for this tab, also over a reload.
 * Neither is logged. Which hub may see the key, `link.ts` decides.
 */

import type { Status } from '@tabwire/sdk';
import { isLoopback } from './page-address';

/** What the page has got. */
export interface PageKey {
  readonly key?: string;
  /** Why a code was not traded, as a sentence. */
  readonly trouble?: string;
}

/** A window, as far as it is used here. */
export interface KeyWindow {
  readonly location: Pick<Location, 'href' | 'origin' | 'hash'>;
  readonly history: Pick<History, 'state' | 'replaceState'>;
  readonly sessionStorage: Pick<Storage, 'getItem' | 'setItem'>;
  fetch(url: string, init: RequestInit): Promise<Pick<Response, 'ok' | 'status' | 'json'>>;
}

const STORED_AS = 'tabwire.page-key';
/** The page shows nothing of the hub before; a hub that is there answers at once. */
const ANSWER_WITHIN_MS = 10_000;
const OPEN_BY_LINK = 'Open this page with the link that `tabwire open viewer --link` prints.';

/** Returns the code in a fragment. */
export function codeIn(hash: string): string | undefined {
  return new URLSearchParams(hash.slice(1)).get('code') ?? undefined;
}

/**
 * Takes the code out of the address, before anything is waited for, and returns the key that it is
 * traded for; without a code, the key that was kept.
 */
export async function takePageKey(page: KeyWindow): Promise<PageKey> {
  const code = codeIn(page.location.hash);
  if (code === undefined) return readKept(page);
  removeCode(page);
  const traded = await trade(page, code);
  if (traded.key !== undefined) keep(page, traded.key);
  return traded;
}

/**
 * Returns a status with what the SDK cannot know: that a code was not taken, and that a page from
 * elsewhere gets in by its link.
 */
export function explainRefusal(status: Status, { trouble }: PageKey, hostname: string): Status {
  const { type, reason, message } = status;
  if (type === 'connected' || type === 'closed') return status;
  // The hub is there and says no; the SDK's advice is for pages of other servers.
  const needsLink = reason === 'origin_not_allowed' && !isLoopback(hostname);
  const words = [trouble, needsLink ? OPEN_BY_LINK : message].filter((text) => text !== undefined);
  return words.length === 0 ? status : { ...status, message: words.join(' ') };
}

function removeCode({ location, history }: KeyWindow): void {
  const rest = new URLSearchParams(location.hash.slice(1));
  rest.delete('code');
  const address = new URL(location.href);
  address.hash = rest.toString();
  history.replaceState(history.state, '', address.href);
}

async function trade(page: KeyWindow, code: string): Promise<PageKey> {
  try {
    const response = await page.fetch(`${page.location.origin}/pages/key`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
      cache: 'no-store',
      // The code is for this hub alone.
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    // Not every server that says no says it in JSON.
    const answer: unknown = await response.json().catch(() => undefined);
    const key = field(answer, 'key');
    if (response.ok && isKey(key)) return { key };
    return { trouble: refused(field(answer, 'error'), response.status) };
  } catch {
    return { trouble: refused({ message: 'it does not answer' }) };
  }
}

function refused(error: unknown, status?: number): string {
  const message = field(error, 'message');
  const why = typeof message === 'string' ? message : `it answers with ${status}`;
  const hint = field(error, 'hint');
  const advice = typeof hint === 'string' ? `; ${hint}` : '';
  return `The hub did not take the code of this link: ${why}${advice}.`;
}

function readKept(page: KeyWindow): PageKey {
  try {
    const key = page.sessionStorage.getItem(STORED_AS);
    return isKey(key) ? { key } : {};
  } catch {
    // Forbidden: the page has what a page without a key has.
    return {};
  }
}

function keep(page: KeyWindow, key: string): void {
  try {
    page.sessionStorage.setItem(STORED_AS, key);
  } catch {
    // Forbidden or full: a reload will need another link.
  }
}

/** A browser tells a socket's wrong subprotocol in an error, so that what is no key is not tried. */
function isKey(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.-]{1,200}$/.test(value);
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
