/**
 * Going somewhere else and waiting until the page is there.
 *
 * Used by navigate, reload, back and forward, which differ only in how they start. Ends early with
 * a dialog (the page wants to keep its user) or a download.
 */

import { messageOf } from '../../check';
import { CommandError, invalid } from '../../command';
import type { ActionReport } from '../../generated/command-results';
import { answerable, deferred, ignore, pause } from '../common/time-limits';
import { idleFor } from '../network/pending-requests';
import { TOP } from '../page/content-calls';
import type { Page } from '../page/page';
import { Watch } from '../tab/signals';

export type WaitUntil = 'domcontentloaded' | 'load' | 'networkidle';

// Without an explicit limit a page that never finishes loading is told as busy, not as failed.
const DEFAULT_LIMIT_MS = 15_000;
const NETWORK_IDLE_MS = 500;
const AFTER_LOAD_MS = 2_000;
const DOWNLOAD_WITHIN_MS = 150;
const ERROR_PAGE_WITHIN_MS = 5_000;

export interface Journey {
  readonly waitUntil: WaitUntil;
  readonly timeoutMs?: number | undefined;
  /** Whether the document may come back from the cache, which tells no end of loading. */
  readonly fromHistory?: boolean;
  /** Where it goes, if its start tells a failure: one of another address is of an earlier journey. */
  readonly to?: string | undefined;
  /** Starts it; what it throws or returns as text is why it failed. */
  start(): Promise<string | undefined>;
}

/** Makes a journey; throws `NAVIGATION_FAILED` or `TIMEOUT`. */
export async function travel(page: Page, journey: Journey): Promise<ActionReport> {
  const { url: from = '' } = await page.tab();
  const watch = new Watch(page.tabId);
  try {
    const limitMs = journey.timeoutMs ?? DEFAULT_LIMIT_MS;
    const endsAt = performance.now() + answerable(page.limits, limitMs);
    await depart(page, watch, journey, { from, endsAt });
    const isOver = watch.dialog !== undefined || watch.download !== undefined || watch.closed;
    const isThere = isOver || (await arrive(page, watch, journey, endsAt));
    if (!isThere && journey.timeoutMs !== undefined) throw tooSlow(journey);
    if (!isOver && isThere) await untilScriptsRest(page, watch, endsAt);
    const report = await page.report(watch, { changes: undefined, busy: !isThere });
    return watch.status === undefined || watch.committed === undefined
      ? report
      : { ...report, status: watch.status };
  } finally {
    watch.close();
  }
}

/** Returns an address that can be gone to, or throws. */
export function readAddress(text: string): string {
  const trimmed = text.trim();
  if (/^javascript:/i.test(trimmed)) {
    throw invalid('url: javascript: addresses are not gone to; use browser_evaluate');
  }
  const hasScheme =
    /^[a-z][a-z0-9+.-]*:/i.test(trimmed) && !/^[\w.-]+:\d+(?:[/?#]|$)/.test(trimmed);
  const isLocal = /^(?:localhost|127\.|\[::1\])/i.test(trimmed);
  const url = hasScheme ? trimmed : `${isLocal ? 'http' : 'https'}://${trimmed}`;
  if (!URL.canParse(url)) throw invalid(`url: ${JSON.stringify(text)} is no address`);
  // As it is judged, so it is gone to.
  return new URL(url).href;
}

/** Waits until the new document is there, or something else happened instead. */
async function depart(
  page: Page,
  watch: Watch,
  journey: Journey,
  { from, endsAt }: { from: string; endsAt: number },
): Promise<void> {
  const { promise: refused, reject } = deferred<never>();
  // Rounded down, as the events' times may be.
  const startedAt = Math.floor(Date.now()) - 1;
  const starting = journey.start();
  starting.then(
    (reason) => {
      if (reason !== undefined) reject(new Error(reason));
    },
    (error) => reject(error),
  );
  const hasFailed = () => {
    const { failed } = watch;
    if (failed === undefined || failed.at < startedAt) return false;
    if (journey.to !== undefined && failed.url !== journey.to) return false;
    if (failed.error !== 'net::ERR_ABORTED') return true;
    // What is left is told as aborted if it was still loading: the page, or one on its way.
    return watch.setOut && failed.url !== from;
  };
  const isDecided = () =>
    watch.committed !== undefined ||
    watch.sameDocument ||
    hasFailed() ||
    watch.dialog !== undefined ||
    watch.downloading ||
    watch.closed;
  try {
    const left = () => endsAt - performance.now();
    const isMoving = await Promise.race([watch.until(isDecided, page.limits, left()), refused]);
    if (!isMoving) throw tooSlow(journey);
    if (hasFailed()) throw new Error(watch.failed?.error);
    if (watch.downloading) {
      await watch.until(() => watch.download !== undefined, page.limits, DOWNLOAD_WITHIN_MS);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    await explainFailure(page, watch, messageOf(error));
  }
}

/** Throws why there is no new page, unless it is a download or an error page of its own. */
async function explainFailure(page: Page, watch: Watch, reason: string): Promise<void> {
  page.limits.signal.throwIfAborted();
  if (/ERR_ABORTED/.test(reason)) {
    const isElse = () =>
      watch.download !== undefined || watch.dialog !== undefined || watch.committed !== undefined;
    if (await watch.until(isElse, page.limits, DOWNLOAD_WITHIN_MS)) return;
    throw new CommandError(
      'NAVIGATION_FAILED',
      'the server sent no page (an empty answer, or it was stopped); the tab is where it was',
    );
  }
  // The reason is told before the error page is there; the next call must find it.
  await watch.until(() => watch.failed !== undefined, page.limits, ERROR_PAGE_WITHIN_MS);
  throw new CommandError(
    'NAVIGATION_FAILED',
    `the page could not be loaded: ${reason}; check the address, or that its server runs`,
  );
}

/** Waits until the new document is ready; returns whether it was in time. */
async function arrive(
  page: Page,
  watch: Watch,
  { waitUntil, fromHistory }: Journey,
  endsAt: number,
): Promise<boolean> {
  if (watch.committed === undefined) return true;
  if (fromHistory === true) await noteReadyState(page, watch);
  const isReady = () =>
    (waitUntil === 'domcontentloaded' ? watch.domReady : watch.loaded) ||
    watch.dialog !== undefined ||
    watch.closed;
  const left = () => endsAt - performance.now();
  if (!(await watch.until(isReady, page.limits, left()))) return false;
  if (waitUntil !== 'networkidle') return true;
  return untilNetworkIdle(page, left());
}

/** Waits until a tab's network has been idle for half a second; returns whether it was in time. */
export async function untilNetworkIdle(page: Page, limitMs: number): Promise<boolean> {
  const endsAt = performance.now() + limitMs;
  for (;;) {
    const missing = NETWORK_IDLE_MS - idleFor(page.tabId);
    if (missing <= 0) return true;
    if (performance.now() + missing > endsAt) return false;
    // While requests are on their way the idle time is zero: look again soon.
    await pause(page.limits, Math.max(10, Math.min(missing, 100)));
  }
}

/** Waits for what scripts still do after loading; a page that asked for nothing else has none. */
async function untilScriptsRest(page: Page, watch: Watch, endsAt: number): Promise<void> {
  if (watch.committed === undefined || watch.requests > 0) {
    await page.awaitEffect(watch, {}, Math.min(AFTER_LOAD_MS, endsAt - performance.now()));
    return;
  }
  // The next call finds the content script there.
  ignore(page.call({ where: TOP, method: 'arm', args: [] }));
}

async function noteReadyState(page: Page, watch: Watch): Promise<void> {
  try {
    const [state] = await page.run(TOP, () => document.readyState, []);
    if (state?.value === 'complete') watch.take({ type: 'loaded' });
    if (state?.value === 'interactive') watch.take({ type: 'domReady' });
  } catch {
    // The events tell it too, later.
  }
}

function tooSlow({ waitUntil, timeoutMs }: Journey): CommandError {
  const time = timeoutMs === undefined ? 'in time' : `within ${timeoutMs} ms`;
  return new CommandError(
    'TIMEOUT',
    `the page did not reach ${waitUntil} ${time}; take a snapshot to see it, or allow more`,
  );
}
