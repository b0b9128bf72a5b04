/**
 * Pages that are not there yet: a tab whose first document has not come, and documents that are
 * still being parsed.
 *
 * Nothing of that is ever shown as an empty page. A tab without a document is waited for. So is a
 * document that shows nothing yet; one that shows something has a moment from its own start, and
 * is then told as it is, with the remark that it is loading.
 */

import { CommandError } from '../../command';
import { answerable, type Limits } from '../common/time-limits';
import { Watch } from '../tab/signals';
import { type Answer, isProblem, type Method } from './content-calls';
import type { Page } from './page';

/** How long after its start a document that shows something is waited for, to be whole. */
export const WHOLE_WITHIN_MS = 3_000;
// How often a document that shows nothing is looked at: what comes in parts is told by no event.
const LOOK_EVERY_MS = 250;

/** A document that is still being parsed, as it was at the moment of its answer. */
export interface Parsing {
  /** Nothing can be seen of it. */
  readonly isEmpty: boolean;
  /** Since its navigation began. */
  readonly ageMs: number;
}

// Their answers are about all that is in a document.
const ABOUT_ALL_METHODS: ReadonlySet<Method> = new Set([
  'content',
  'inView',
  'labelled',
  'marks',
  'query',
  'snapshot',
]);

/** Waits for the first document of a tab that was opened a moment ago; throws when none comes. */
export async function untilFirstDocument(
  page: Page,
  tab: chrome.tabs.Tab,
): Promise<chrome.tabs.Tab> {
  if (!isBeforeFirst(tab)) return tab;
  const watch = new Watch(page.tabId);
  try {
    const now = await page.tab();
    if (!isBeforeFirst(now)) return now;
    const isOver = () =>
      watch.committed !== undefined || watch.failed !== undefined || watch.rested || watch.closed;
    const isThere = await watch.until(isOver, page.limits, answerable(page.limits, Infinity));
    if (!isThere) throw noAnswer(page.tabId);
    return await page.tab();
  } finally {
    watch.close();
  }
}

/** Asks for answers again while documents are being parsed that are worth waiting for. */
export async function whenParsed<T>(
  { tabId, limits }: { readonly tabId: number; readonly limits: Limits },
  method: Method,
  ask: () => Promise<Array<Answer<T>>>,
): Promise<Array<Answer<T>>> {
  // Opened first: a document may become whole while its answer is on its way.
  const watch = new Watch(tabId);
  try {
    for (;;) {
      const before = watch.parsed;
      const answers = await ask();
      const unfinished = answers.filter((answer) => isUnfinished(method, answer));
      const waitMs = Math.max(0, ...unfinished.map((answer) => waitMsFor(answer, limits)));
      if (waitMs === 0) return answers;
      await watch.until(() => watch.parsed > before || watch.closed, limits, waitMs);
    }
  } finally {
    watch.close();
  }
}

/** Tells whether more of the document could make another answer. */
function isUnfinished(method: Method, { parsing, value }: Answer<unknown>): boolean {
  if (parsing === undefined) return false;
  return ABOUT_ALL_METHODS.has(method) || (isProblem(value) && value.problem === 'not_found');
}

function waitMsFor({ parsing, frameId }: Answer<unknown>, limits: Limits): number {
  if (parsing === undefined) return 0;
  const { isEmpty, ageMs } = parsing;
  if (isEmpty && frameId === 0) return answerable(limits, LOOK_EVERY_MS);
  const leftMs = answerable(limits, WHOLE_WITHIN_MS - ageMs);
  return isEmpty ? Math.min(leftMs, LOOK_EVERY_MS) : leftMs;
}

/** Tells whether a tab is on its way to its first document, which its opener may have begun. */
function isBeforeFirst({ status, url, pendingUrl }: chrome.tabs.Tab): boolean {
  const isBlank = url === undefined || url === '' || url === 'about:blank';
  return status === 'loading' && isBlank && pendingUrl !== undefined && pendingUrl !== url;
}

function noAnswer(tabId: number): CommandError {
  return new CommandError(
    'TIMEOUT',
    `tab ${tabId} is still loading: the server of its address has not answered; ` +
      'try again later, or go elsewhere with browser_navigate',
  );
}
