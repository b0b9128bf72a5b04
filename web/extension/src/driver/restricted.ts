/**
 * Which pages Chrome keeps from extensions, decided by address.
 *
 * By address first, because an injection into some of them (`view-source:`) never answers; the
 * texts of Chrome's refusals come second, for what the address does not tell.
 */

import { CommandError } from '../command';

const CLOSED_SCHEMES = new Set([
  'chrome:',
  'chrome-extension:',
  'chrome-search:',
  'chrome-untrusted:',
  'devtools:',
  'edge:',
  'brave:',
  'view-source:',
]);

const STORES = [
  'https://chromewebstore.google.com/',
  'https://chrome.google.com/webstore',
  'https://microsoftedge.microsoft.com/addons',
];

const ADVICE = 'open an http or https page with browser_navigate';

/** Returns why a page cannot be read or touched, or nothing. */
export function whyRestricted(url: string): string | undefined {
  const scheme = schemeOf(url);
  if (CLOSED_SCHEMES.has(scheme)) {
    return `Chrome lets no extension into ${scheme} pages; ${ADVICE}`;
  }
  if (STORES.some((store) => url.startsWith(store))) {
    return `Chrome lets no extension into its web store; ${ADVICE}`;
  }
  return undefined;
}

/** Throws `RESTRICTED_PAGE` for a page that cannot be read or touched. */
export function checkRestricted(url: string): void {
  const reason = whyRestricted(url);
  if (reason !== undefined) throw new CommandError('RESTRICTED_PAGE', reason);
}

/** Makes an error of Chrome's refusal to inject or attach. */
export function refusal(message: string): CommandError | undefined {
  if (/No tab with|tab was closed|Frame with ID 0 was removed/i.test(message)) {
    return new CommandError(
      'TAB_NOT_FOUND',
      'the tab was closed; list the tabs to see which are open',
    );
  }
  if (/showing error page/i.test(message)) {
    return new CommandError(
      'NAVIGATION_FAILED',
      'the tab shows an error page because its address could not be loaded; navigate again',
    );
  }
  if (/Cannot access|cannot be scripted|must request permission|Not allowed/i.test(message)) {
    return new CommandError('RESTRICTED_PAGE', closedText(message));
  }
  return undefined;
}

// Chrome's text names the address.
function closedText(message: string): string {
  if (/"about:/.test(message)) return `the tab shows no page yet; ${ADVICE}`;
  if (/"data:/.test(message)) return `Chrome lets no extension into data: pages; ${ADVICE}`;
  if (/"file:/.test(message)) {
    return 'Tabwire may not read files: allow access to file URLs in chrome://extensions';
  }
  return `Chrome does not let extensions into this page; ${ADVICE}`;
}

function schemeOf(url: string): string {
  return /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase() ?? '';
}
