/**
 * One trace at a time: what Chrome notes while a page works, for people who look for lost time.
 *
 * Chrome writes into a buffer and tells it when asked to end; a full one ends by itself and waits
 * here for whoever began it. Events of processes that are no page are left out, as are pictures and
 * those that name sites the user keeps from clients. Not every event says whose it is, so a page
 * with a frame of such a site is not traced at all. That one runs is kept in `storage.session`; what has
 * been collected is not, so a worker that dies after a full buffer loses it and says so.
 */

import { CommandError, isRecord } from '../../command';
import { Kept } from '../../storage';
import { answerable, deferred, ignore, within } from '../common/time-limits';
import { type Fields, fieldsOf, listIn, numberIn, textIn } from '../fields';
import { refusal, refuseDeniedFrames } from '../page/denied-frames';
import type { Page } from '../page/page';
import { addKeeper, openSession, ProtocolFailure } from '../tab/debugger';
import { onDebuggerEvent } from '../tab/debugger-events';

/** Characters of JSON that a trace has at most. */
export const MOST_BYTES = 8 * 1_048_576;
/** What fills Chrome's buffer of this size is about as much JSON as may be told. */
const BUFFER_KB = 4 * 1_024;
// The last chunks of a buffer are never written: Chrome drops events from 0.94 on (measured).
const FULL = 0.9;
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

interface Begun {
  readonly tabId: number;
  readonly startedAt: number;
}

const kept = new Kept<Begun>('session', 'driver.trace', isBegun);

let trace: Trace | undefined;
/** Why there is no trace though one was begun. */
let lost: string | undefined;

/** Begins a trace; throws `TRACE_RUNNING` when there is one. */
export async function startTrace(page: Page, categories: readonly string[]): Promise<void> {
  if (trace !== undefined) throw running(trace);
  await refuseDeniedFrames(page, UNTRACEABLE);
  // Another call may have begun one meanwhile.
  if (trace !== undefined) throw running(trace);
  const begun = newTrace({ tabId: page.tabId, startedAt: Date.now() });
  // Claimed before anything is waited for: another call must not begin a second one.
  trace = begun;
  lost = undefined;
  try {
    const includedCategories = categories.length === 0 ? USUAL_CATEGORIES : categories;
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
    await kept.save({ tabId: begun.tabId, startedAt: begun.startedAt });
  } catch (error) {
    if (trace === begun) trace = undefined;
    // Chrome may have begun all the same.
    ignore(page.session().then((session) => session.send('Tracing.end')));
    throw explain(error);
  }
}

/** Ends the trace of a tab; returns what it has. */
export async function stopTrace(page: Page): Promise<TraceResult> {
  const ending = trace;
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
  if (trace === ending) drop(ending, undefined);
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

/** Ends the trace of a tab that is given back; what it has is dropped. */
export function endTraceOf(tabId: number): void {
  const ending = trace;
  if (ending?.tabId !== tabId) return;
  drop(ending, 'its tab was given back');
  if (ending.endedAt === undefined) ignore(end(tabId));
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerTracing(): void {
  addKeeper({ needs: (tabId) => trace?.tabId === tabId });
  onDebuggerEvent((tabId, method, params) => {
    if (trace?.tabId === tabId) take(trace, method, params);
  });
  chrome.webNavigation.onCommitted.addListener(({ tabId, url }) => {
    const [site] = /^[a-z]+:\/\/[^/?#]*/i.exec(url) ?? [];
    if (trace?.tabId === tabId && site !== undefined) trace.seen.add(site);
  });
  chrome.tabs.onRemoved.addListener((tabId) => loseTraceOf(tabId, 'its tab was closed'));
  chrome.debugger.onDetach.addListener(({ tabId }) => {
    if (tabId !== undefined) loseTraceOf(tabId, 'the debugger was detached');
  });
}

/** Forgets the trace, as when the user stops everything; detaching has ended it. */
export function endAnyTrace(): void {
  if (trace !== undefined) drop(trace, 'the user stopped everything');
}

/** Reads what an earlier worker left. */
export async function restoreTracing(): Promise<void> {
  const begun = await kept.load();
  if (begun === undefined || trace !== undefined) return;
  // That a tab is gone may have been told before it was known whose trace runs.
  const isThere = await chrome.tabs.get(begun.tabId).then(
    () => true,
    () => false,
  );
  if (isThere) trace ??= newTrace(begun);
  else drop(newTrace(begun), 'its tab was closed');
}

function take(running: Trace, method: string, params: Fields): void {
  switch (method) {
    case 'Tracing.bufferUsage':
      if ((numberIn(params, 'percentFull') ?? 0) >= FULL) endFull(running);
      break;
    case 'Tracing.dataCollected':
      collect(running.collected, listIn(params, 'value'));
      break;
    case 'Tracing.tracingComplete':
      if (params.dataLossOccurred === true) running.isFull = true;
      running.endedAt ??= Date.now();
      running.told.resolve();
      break;
  }
}

function endFull(running: Trace): void {
  if (running.endedAt !== undefined) return;
  running.isFull = true;
  running.endedAt = Date.now();
  ignore(end(running.tabId));
}

async function end(tabId: number): Promise<void> {
  const session = await openSession(tabId);
  try {
    await session.send('Tracing.end');
  } finally {
    session.release();
  }
}

function collect(collected: Collected, events: readonly unknown[]): void {
  for (const event of events.map(fieldsOf)) {
    const pid = numberIn(event, 'pid') ?? 0;
    if (textIn(event, 'name') === 'process_name' && isRenderer(event)) collected.renderers.add(pid);
    const json = JSON.stringify(event);
    if (collected.bytes + json.length > MOST_BYTES) {
      collected.leftOut++;
      continue;
    }
    collected.bytes += json.length + 1;
    collected.events.push({ pid, json });
  }
}

function isRenderer(event: Fields): boolean {
  return /renderer/i.test(textIn(fieldsOf(event.args), 'name') ?? '');
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
      const verdict = verdicts.get(origin) ?? (await mayTell(page, origin));
      verdicts.set(origin, verdict);
      isAllowed &&= verdict;
    }
    if (isAllowed) told.push(json);
  }
  return told;
}

async function mayTell(page: Page, url: string): Promise<boolean> {
  try {
    await page.services.checkSite(url);
    return true;
  } catch {
    return false;
  }
}

function newTrace(begun: Begun): Trace {
  const collected = { renderers: new Set<number>(), events: [], bytes: 0, leftOut: 0 };
  return { ...begun, seen: new Set(), collected, told: deferred<void>() };
}

function loseTraceOf(tabId: number, reason: string): void {
  if (trace?.tabId === tabId) drop(trace, reason);
}

function drop(ended: Trace, reason: string | undefined): void {
  trace = undefined;
  lost = reason;
  ended.told.reject(noTrace());
  ignore(kept.clear());
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

function isBegun(value: unknown): value is Begun {
  return isRecord(value) && typeof value.tabId === 'number' && typeof value.startedAt === 'number';
}
