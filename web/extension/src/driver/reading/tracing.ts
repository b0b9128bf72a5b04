/**
 * One trace at a time: what Chrome notes while a page works, for people who look for lost time.
 *
 * Chrome writes into a buffer and tells it when asked to end; a full one ends by itself and waits
 * here for whoever began it. Events of processes that are no page are left out, as are pictures and
 * those that name sites the user keeps from clients. Not every event says whose it is, so a page
 * with a frame of such a site is not traced at all. That one runs is kept in `storage.session`; what has
 * been collected is not, so a worker that dies after a full buffer loses it and says so.
 */

import { isRecord } from '../../check';
import { CommandError } from '../../command';
import { mayUse } from '../common/services';
import { answerable, deferred, ignore, within } from '../common/time-limits';
import { refusal, refuseDeniedFrames } from '../page/denied-frames';
import type { Page } from '../page/page';
import { ProtocolFailure, withSession } from '../tab/debugger';
import { onDebuggerEvent } from '../tab/debugger-events';
import { type Ending, KeptTabPart } from '../tab/tab-state';

/** Characters of JSON that a trace has at most. */
export const MOST_BYTES = 8 * 1_048_576;
/** What fills Chrome's buffer of this size is about as much JSON as may be told. */
const BUFFER_KB = 4 * 1_024;
// The last chunks of a buffer are never written: Chrome drops events from 0.94 on (measured).
const FULL_BUFFER = 0.9;
const LOOK_EVERY_MS = 500;
const COLLECT_WITHIN_MS = 20_000;
const UNTRACEABLE = 'a trace tells of everything in its tab, and that has what it may not tell of';

const USUAL_CATEGORIES = [
  'blink.console',
  'blink.user_timing',
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'loading',
  'v8.execute',
];

/** As much as we read of one. */
interface TraceEvent {
  readonly pid?: number;
  readonly name?: string;
  readonly args?: { readonly name?: string };
}

interface Collected {
  /** Processes that are pages. */
  readonly renderers: Set<number>;
  readonly events: Array<{ readonly pid: number; readonly json: string }>;
  bytes: number;
  leftOut: number;
}

interface Trace {
  readonly tabId: number;
  /** The sites of documents that were in its tab. */
  readonly seen: Set<string>;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly collected: Collected;
  /** Settles when Chrome has told all. */
  readonly told: ReturnType<typeof deferred<void>>;
  endedAt?: number;
  isFull?: true;
}

export interface TraceResult {
  readonly json: string;
  readonly events: number;
  readonly ms: number;
  /** Why it ended before it was told to. */
  readonly endedBecause?: string;
  /** Events that did not fit. */
  readonly leftOut?: number;
}

type BegunTrace = Pick<Trace, 'startedAt' | 'tabId'>;

const traces = new KeptTabPart<Trace>('trace', {
  lifetimes: ['attachment', 'use'],
  keepsAttached: true,
  read: (kept) => (isBegunTrace(kept) ? newTrace(kept) : undefined),
  pack: ({ tabId, startedAt }): BegunTrace => ({ tabId, startedAt }),
  undo: end,
});
/** Why there is no trace though one was begun. */
let lost: string | undefined;

/** Begins a trace; throws `TRACE_RUNNING` when there is one. */
export async function startTrace(page: Page, categories: readonly string[]): Promise<void> {
  refuseSecond();
  await refuseDeniedFrames(page, UNTRACEABLE);
  // Another call may have begun one meanwhile.
  refuseSecond();
  const begun = newTrace({ tabId: page.tabId, startedAt: Date.now() });
  // Claimed before anything is waited for: another call must not begin a second one.
  traces.set(begun.tabId, begun);
  lost = undefined;
  try {
    const includedCategories = categories.length === 0 ? USUAL_CATEGORIES : [...categories];
    await page.send('Tracing.start', {
      transferMode: 'ReportEvents',
      bufferUsageReportingInterval: LOOK_EVERY_MS,
      traceConfig: {
        recordMode: 'recordUntilFull',
        traceBufferSizeInKb: BUFFER_KB,
        includedCategories,
        excludedCategories: ['*'],
      },
    });
  } catch (error) {
    if (current() === begun) traces.delete(begun.tabId);
    // Chrome may have begun all the same.
    ignore(page.session().then((session) => session.send('Tracing.end')));
    throw explain(error);
  }
}

function current(): Trace | undefined {
  const [tabId] = traces.tabs();
  return tabId === undefined ? undefined : traces.get(tabId);
}

function refuseSecond(): void {
  const trace = current();
  if (trace !== undefined) throw running(trace);
}

/** Ends the trace of a tab; returns what it has. */
export async function stopTrace(page: Page): Promise<TraceResult> {
  const ending = current();
  if (ending === undefined) throw noTrace();
  if (ending.tabId !== page.tabId) throw running(ending);
  if (ending.endedAt === undefined) {
    ending.endedAt = Date.now();
    await page.send('Tracing.end').catch((error) => {
      drop(ending, 'the browser did not end it');
      throw explain(error);
    });
  }
  const limitMs = answerable(page.limits, COLLECT_WITHIN_MS);
  await within(ending.told.promise, page.limits, limitMs, notTold);
  await refuseSeen(page, ending);
  const result = await resultOf(page, ending);
  if (current() === ending) drop(ending, undefined);
  return result;
}

/** Drops a trace during which its tab showed what clients may not use, were it for a moment. */
async function refuseSeen(page: Page, ended: Trace): Promise<void> {
  try {
    await refuseDeniedFrames(page, UNTRACEABLE);
    for (const site of ended.seen) await page.services.checkSite(site);
  } catch (error) {
    drop(ended, 'it was of a site that the user keeps from clients');
    if (error instanceof CommandError && error.message.startsWith(UNTRACEABLE)) throw error;
    throw refusal(UNTRACEABLE, error);
  }
}

const LOST_BECAUSE = {
  closed: 'its tab was closed',
  left: '',
  detached: 'the debugger was detached',
  released: 'its tab was given back',
  stopped: 'the user stopped everything',
} as const satisfies Record<Ending['type'], string>;

/** Drops what a trace has; one whose tab is only given back runs still. */
async function end(trace: Trace, tabId: number, { type }: Ending): Promise<void> {
  drop(trace, LOST_BECAUSE[type]);
  if (type === 'released' && trace.endedAt === undefined) await endInBrowser(tabId);
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerTracing(): void {
  onDebuggerEvent('Tracing.bufferUsage', (tabId, { percentFull = 0 }) => {
    const trace = traces.get(tabId);
    if (trace !== undefined && percentFull >= FULL_BUFFER) endFull(trace);
  });
  onDebuggerEvent('Tracing.dataCollected', (tabId, { value }) => {
    const trace = traces.get(tabId);
    if (trace !== undefined) collect(trace.collected, value);
  });
  onDebuggerEvent('Tracing.tracingComplete', (tabId, { dataLossOccurred }) => {
    const trace = traces.get(tabId);
    if (trace === undefined) return;
    if (dataLossOccurred) trace.isFull = true;
    trace.endedAt ??= Date.now();
    trace.told.resolve();
  });
  chrome.webNavigation.onCommitted.addListener(({ tabId, url }) => {
    const [site] = /^[a-z]+:\/\/[^/?#]*/i.exec(url) ?? [];
    if (site !== undefined) traces.get(tabId)?.seen.add(site);
  });
}

function endFull(running: Trace): void {
  if (running.endedAt !== undefined) return;
  running.isFull = true;
  running.endedAt = Date.now();
  ignore(endInBrowser(running.tabId));
}

async function endInBrowser(tabId: number): Promise<void> {
  await withSession(tabId, ({ send }) => send('Tracing.end'));
}

function collect(collected: Collected, events: readonly TraceEvent[]): void {
  for (const event of events) {
    const { pid = 0, name, args } = event;
    const isPage = name === 'process_name' && /renderer/i.test(args?.name ?? '');
    if (isPage) collected.renderers.add(pid);
    const json = JSON.stringify(event);
    if (collected.bytes + json.length > MOST_BYTES) {
      collected.leftOut++;
      continue;
    }
    collected.bytes += json.length + 1;
    collected.events.push({ pid, json });
  }
}

async function resultOf(page: Page, ended: Trace): Promise<TraceResult> {
  const { renderers, events, leftOut } = ended.collected;
  const ofPages = events.filter(({ pid }) => renderers.has(pid));
  const told = await allowed(
    page,
    ofPages.map(({ json }) => json),
  );
  return {
    json: `{"traceEvents":[${told.join(',\n')}]}`,
    events: told.length,
    ms: (ended.endedAt ?? Date.now()) - ended.startedAt,
    ...(ended.isFull ? { endedBecause: 'the buffer was full' } : {}),
    ...(leftOut === 0 ? {} : { leftOut }),
  };
}

/** Leaves out what names sites that the user keeps from clients. */
async function allowed(page: Page, events: readonly string[]): Promise<readonly string[]> {
  if (!(await page.services.limitsSites())) return events;
  const verdicts = new Map<string, boolean>();
  const told: string[] = [];
  for (const json of events) {
    let isAllowed = !/"name":"Screenshot"/.test(json);
    for (const [origin] of json.matchAll(/\b(?:https?|wss?|file):\/\/[^/"\\\s?#]*/g)) {
      const verdict = verdicts.get(origin) ?? (await mayUse(page.services, origin));
      verdicts.set(origin, verdict);
      isAllowed &&= verdict;
    }
    if (isAllowed) told.push(json);
  }
  return told;
}

function newTrace(begun: BegunTrace): Trace {
  const collected = { renderers: new Set<number>(), events: [], bytes: 0, leftOut: 0 };
  return { ...begun, seen: new Set(), collected, told: deferred<void>() };
}

function drop(ended: Trace, reason: string | undefined): void {
  traces.delete(ended.tabId);
  lost = reason;
  ended.told.reject(noTrace());
}

function running({ tabId }: Trace): CommandError {
  return new CommandError(
    'TRACE_RUNNING',
    `a trace of tab ${tabId} is running, and there is only one at a time; end it there first ` +
      '(browser_debug, action trace_stop)',
  );
}

function noTrace(): CommandError {
  const why = lost === undefined ? 'no trace is running' : `the trace is lost: ${lost}`;
  return new CommandError('NO_TRACE', `${why}; begin one with browser_debug, action trace_start`);
}

function notTold(): CommandError {
  return new CommandError(
    'TIMEOUT',
    'the browser has not told the whole trace yet; call again with more time',
  );
}

function explain(error: unknown): unknown {
  if (!(error instanceof ProtocolFailure)) return error;
  return new CommandError(
    'TRACE_FAILED',
    `the browser refused it: ${error.reason}; end other traces and developer tools, then try again`,
  );
}

function isBegunTrace(value: unknown): value is BegunTrace {
  return isRecord(value) && typeof value.tabId === 'number' && typeof value.startedAt === 'number';
}
