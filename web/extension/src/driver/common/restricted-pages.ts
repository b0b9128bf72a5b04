/**
 * Which pages can be driven: of the web, and the empty one; and not those that Chrome keeps from
 * extensions.
 *
 * By address first, because an injection into some of them (`view-source:`) never answers; the
 * texts of Chrome's refusals come second, for what the address does not tell.
 */

import { innerAddress } from '../../addresses';
import { CommandError } from '../../command';
import type { Services } from './services';

const WEB_SCHEMES = new Set(['http:', 'https:']);
const BLANK = /^about:blank(?:[?#]|$)/i;

/** Schemes of pages that are the browser's own. */
const BROWSERS_OWN = /^(?:chrome(?:-[a-z]+)?|devtools|edge|brave|view-source|about):/i;

const STORES = [
  'https://chromewebstore.google.com/',
  'https://chrome.google.com/webstore',
  'https://microsoftedge.microsoft.com/addons',
];

const ADVICE = 'open an http or https page with browser_navigate';

/** Throws if a page may not be read, touched or gone to; every way to a page asks here. */
export async function checkPage(url: string, services: Pick<Services, 'checkSite'>): Promise<void> {
  const reason = whyRestricted(url);
  if (reason !== undefined) throw new CommandError('RESTRICTED_PAGE', reason);
  await services.checkSite(url);
}

/** Returns why a page cannot be driven by its address alone, or nothing. */
export function whyRestricted(url: string): string | undefined {
  // A tab that has just been opened has no address yet.
  if (url === '' || BLANK.test(url)) return undefined;
  const scheme = schemeOf(url);
  if (BROWSERS_OWN.test(url)) return `Chrome lets no extension into ${scheme} pages; ${ADVICE}`;
  const isBlob = scheme === 'blob:';
  // A `blob:` page is one of the site that has made it.
  const { protocol = scheme } = (isBlob ? innerAddress(url) : undefined) ?? {};
  if (!WEB_SCHEMES.has(protocol)) return `${scheme} pages are not of the web; ${ADVICE}`;
  if (STORES.some((store) => url.startsWith(store))) {
    return `Chrome lets no extension into its web store; ${ADVICE}`;
  }
  return undefined;
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
  return `Chrome does not let extensions into this page; ${ADVICE}`;
}

function schemeOf(url: string): string {
  return /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase() ?? '';
}
