/**
 * Keeps the script that pages are carried by in the pages of allowed origins, and in no others.
 *
 * Registered with the browser, so that it stands in a page from its beginning, and put into the
 * pages that are open already. By scheme and host, because not every browser takes a port in a
 * pattern; the script asks by itself whether its origin is meant. Browsers forget what was
 * registered when an extension is updated, so this is done anew in each life of the worker.
 */

import { WorkQueue } from './work-queue';

const SCRIPT = 'carrier.js';
/** What the ids of our registrations begin with; the pattern follows. */
const ID = 'carrier ';

export class CarrierScripts {
  readonly #turns = new WorkQueue();
  /** Origins whose open pages have the script. */
  #origins: readonly string[] = [];

  /** Makes it so that the pages of these origins have the script, and no others get it. */
  keep(origins: readonly string[]): Promise<void> {
    return this.#turns.take(async () => {
      await register(new Set(origins.map(patternOf)));
      const added = origins.filter((origin) => !this.#origins.includes(origin));
      this.#origins = origins;
      if (added.length > 0) await inject(added);
    });
  }
}

async function register(patterns: ReadonlySet<string>): Promise<void> {
  const registered = await chrome.scripting.getRegisteredContentScripts();
  const before = registered.flatMap(({ id }) => (id.startsWith(ID) ? [id.slice(ID.length)] : []));
  const gone = before.filter((pattern) => !patterns.has(pattern));
  if (gone.length > 0) {
    await chrome.scripting.unregisterContentScripts({ ids: gone.map((pattern) => ID + pattern) });
  }
  for (const pattern of patterns) {
    // One by one: a host that the browser takes in no pattern must not cost the others theirs.
    if (!before.includes(pattern)) await registerOne(pattern).catch(notRegistered);
  }
}

function registerOne(pattern: string): Promise<void> {
  const script: chrome.scripting.RegisteredContentScript = {
    id: ID + pattern,
    matches: [pattern],
    js: [SCRIPT],
    runAt: 'document_start',
    persistAcrossSessions: true,
  };
  return chrome.scripting.registerContentScripts([script]);
}

function notRegistered(error: unknown): void {
  console.warn('tabwire: the pages of an allowed app do not get our script:', error);
}

/** Puts the script into pages that are open; one that has it already goes on with the old one. */
async function inject(origins: readonly string[]): Promise<void> {
  for (const { id: tabId, url = '', discarded } of await chrome.tabs.query({})) {
    // One that was put to sleep gets it when it wakes.
    if (tabId === undefined || discarded || !URL.canParse(url)) continue;
    if (!origins.includes(new URL(url).origin)) continue;
    const injection = { target: { tabId }, files: [SCRIPT], injectImmediately: true };
    // Not awaited: in frozen tabs an injection never answers.
    chrome.scripting.executeScript(injection).catch(() => {});
  }
}

function patternOf(origin: string): string {
  const { protocol, hostname } = new URL(origin);
  return `${protocol}//${hostname}/*`;
}
