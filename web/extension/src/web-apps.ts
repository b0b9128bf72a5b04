/**
 * Which web apps may connect to the hub through this browser: origins that the user has allowed.
 *
 * An origin counts whole, with scheme and port. The lists of sites stand above it: what AI clients
 * may not use may not offer itself to them either.
 */

import type { Settings } from './settings';
import { refusalOf } from './sites';

/** What the user of a page can do; the SDK has the same words. */
const PRESS = 'press "Let this page connect" in the Tabwire extension';

/** Why a page is not carried: a word that the SDK knows, and what its user reads. */
export interface Refusal {
  readonly word: 'not_allowed_yet' | 'origin_not_allowed' | 'stopped' | 'too_many';
  readonly message: string;
}

/** Returns the origin that was meant, or nothing if no web page has such a one. */
export function readOrigin(text: string): string | undefined {
  const bare = text.trim();
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(bare) ? bare : `https://${bare}`;
  if (!URL.canParse(whole)) return undefined;
  const { protocol, origin, username, hostname } = new URL(whole);
  const isPage = (protocol === 'https:' || protocol === 'http:') && hostname !== '';
  return isPage && username === '' && !/[\s*]/.test(bare) ? origin : undefined;
}

/** Returns why a page may not connect, or nothing if it may. */
export function refusalOfApp(origin: string, settings: Settings): Refusal | undefined {
  const denied = refusalOf(origin, settings);
  if (denied !== undefined) {
    const message = `${denied.reason} (they decide it in the options of the Tabwire extension)`;
    return { word: 'origin_not_allowed', message };
  }
  if (settings.webApps?.includes(origin)) return undefined;
  const message = `${origin} is not allowed to connect; ${PRESS}`;
  return { word: 'not_allowed_yet', message };
}

/** Returns the origins whose pages may connect as things stand. */
export function allowedOrigins(settings: Settings): string[] {
  const { webApps = [] } = settings;
  return webApps.filter(
    (origin) => readOrigin(origin) === origin && refusalOfApp(origin, settings) === undefined,
  );
}
