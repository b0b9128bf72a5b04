/**
 * What a client has decided about a tab's requests: mocks, and headers that go along.
 *
 * The debugger is held while there is any of it. The rules are in `storage.session`: a stopped
 * request wakes a worker that died, which reads them before it answers. They end with the tab,
 * when its client lets go of it, and when the debugger is detached from outside; that is told as
 * an event and by the next call.
 */

import { CommandError, isRecord } from '../../command';
import { emitEvent } from '../common/hub-events';
import { judge } from '../common/permissions';
import { deferred, ignore } from '../common/time-limits';
import { type Fields, fieldsOf, textIn } from '../fields';
import type { Page } from '../page/page';
import {
  followFrames,
  letFramesLoad,
  onChildSession,
  sendToChild,
  sendToChildren,
} from '../tab/child-sessions';
import { isAttached, openSession, type Session } from '../tab/debugger';
import { DETACHED, onDebuggerEvent } from '../tab/debugger-events';
import { answerOf, type Decision, isMock, type Mock, mockFor, stopsFor } from './mocks';

type Headers = Readonly<Record<string, string>>;

interface Rules {
  readonly mocks: readonly Mock[];
  readonly headers: Headers;
}

const KEY = 'driver.rules';
const NONE: Rules = { mocks: [], headers: {} };
// What was stopped for a worker that died at that moment goes on after this long.
const RELEASE_AFTER_MS = 1_000;
const APPLY_WITHIN_MS = 10_000;

const rules = new Map<number, Rules>();
const holds = new Map<number, Session>();
const ended = new Map<number, string>();
/** Requests that are being answered, with their tabs. */
const answering = new Map<Fields, number>();
const { promise: known, resolve: setKnown } = deferred<void>();

/** Returns a tab's mocks, oldest first. */
export function mocksOf(tabId: number): readonly Mock[] {
  return rulesOf(tabId).mocks;
}

/** Returns how many characters the mocks of all tabs answer with. */
export function allBodies(): number {
  const mocks = [...rules.values()].flatMap((each) => each.mocks);
  return mocks.reduce((sum, { body }) => sum + body.length, 0);
}

/** Returns the headers that go along with a tab's requests. */
export function headersOf(tabId: number): Headers {
  return rulesOf(tabId).headers;
}

/** Returns, once, why rules of a tab ended without being told to. */
export function takeEnding(tabId: number): string | undefined {
  const reason = ended.get(tabId);
  ended.delete(tabId);
  return reason;
}

/** Puts a tab's mocks in the place of those it has, unless the call is withdrawn before. */
export async function setMocks(page: Page, mocks: readonly Mock[]): Promise<void> {
  await change(page, (before) => ({ ...before, mocks }), applyMocks);
}

/** Puts headers in the place of those that go along with a tab's requests. */
export async function setHeaders(page: Page, headers: Headers): Promise<void> {
  await change(page, (before) => ({ ...before, headers }), applyHeaders);
}

/** Ends all rules of a tab: nobody drives it any more. */
export async function endRules(tabId: number): Promise<void> {
  // A worker that has just begun has not read them yet; nor may it hold the tab again.
  await known;
  if (!rules.has(tabId)) return;
  rules.set(tabId, NONE);
  const session = holds.get(tabId);
  // Without one, `resume` is under way and finds nothing to put in force.
  if (session === undefined) {
    await keep();
    return;
  }
  await Promise.allSettled([applyMocks(session), applyHeaders(session)]);
  drop(tabId);
  await keep();
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerTabRules(): void {
  onDebuggerEvent((tabId, method, params, sessionId) => {
    if (method === 'Fetch.requestPaused') ignore(takePaused(tabId, params, sessionId));
    if (method === DETACHED) noteEnd(tabId, textIn(params, 'reason') ?? '');
  });
  onChildSession({ prepare: prepareChild, waits: (tabId) => !isEmpty(rulesOf(tabId)) });
  chrome.tabs.onRemoved.addListener((tabId) => ignore(forget(tabId)));
}

/** Takes over what an earlier worker left; attachments must be adopted before. */
export async function restoreRules(): Promise<void> {
  try {
    const { [KEY]: kept } = await chrome.storage.session.get(KEY);
    for (const [key, value] of Object.entries(fieldsOf(kept))) {
      const tabId = Number(key);
      if (isRules(value) && !rules.has(tabId)) rules.set(tabId, value);
    }
  } finally {
    setKnown();
  }
  for (const tabId of rules.keys()) {
    if (isAttached(tabId)) ignore(resume(tabId));
    else noteEnd(tabId, 'gone');
  }
}

async function resume(tabId: number): Promise<void> {
  const session = await openSession(tabId);
  hold(session);
  await Promise.all([applyMocks(session), applyHeaders(session)]);
  if (isEmpty(rulesOf(tabId))) drop(tabId);
  if (mocksOf(tabId).length > 0) setTimeout(() => release(session), RELEASE_AFTER_MS);
}

/** Lets go on what was stopped for an earlier worker. */
function release(session: Session): void {
  const { tabId } = session;
  if (mocksOf(tabId).length === 0) return;
  // What is just being answered would go on too, past its mock.
  if ([...answering.values()].includes(tabId)) {
    setTimeout(() => release(session), RELEASE_AFTER_MS);
    return;
  }
  ignore(session.send('Fetch.disable'));
  ignore(session.send('Fetch.enable', { patterns: stopsFor(mocksOf(tabId)) }));
}

function rulesOf(tabId: number): Rules {
  return rules.get(tabId) ?? NONE;
}

/** Changes a tab's rules and has the debugger follow; all of it, or nothing. */
async function change(
  page: Page,
  next: (before: Rules) => Rules,
  apply: (session: Session) => Promise<void>,
): Promise<void> {
  const { tabId } = page;
  // A hold of its own: the call gives its own back.
  if (!holds.has(tabId)) hold(await openSession(tabId));
  const session = holds.get(tabId) ?? (await page.session());
  const before = rulesOf(tabId);
  try {
    page.limits.signal.throwIfAborted();
    rules.set(tabId, next(before));
    await page.guard(Promise.all([keep(), apply(session)]), APPLY_WITHIN_MS);
  } catch (error) {
    // The debugger may have gone meanwhile, and with it all rules.
    if (rules.has(tabId)) {
      rules.set(tabId, before);
      // It may have taken what was withdrawn, or still will.
      ignore(apply(session));
    }
    ignore(keep());
    throw error;
  } finally {
    if (isEmpty(rulesOf(tabId))) drop(tabId);
  }
}

function hold(session: Session): void {
  holds.get(session.tabId)?.release();
  holds.set(session.tabId, session);
}

function isEmpty({ mocks, headers }: Rules): boolean {
  return mocks.length === 0 && Object.keys(headers).length === 0;
}

async function applyMocks(session: Session): Promise<void> {
  const { tabId } = session;
  const { mocks } = rulesOf(tabId);
  if (mocks.length > 0) {
    await followFrames(session, true);
    const patterns = { patterns: stopsFor(mocks) };
    await Promise.all([
      session.send('Fetch.enable', patterns),
      sendToChildren(tabId, 'Fetch.enable', patterns),
    ]);
    return;
  }
  await Promise.all([session.send('Fetch.disable'), sendToChildren(tabId, 'Fetch.disable', {})]);
  await letFramesLoad(session);
}

async function applyHeaders(session: Session): Promise<void> {
  const { tabId } = session;
  const { headers } = rulesOf(tabId);
  const params = { headers };
  if (Object.keys(headers).length > 0) await followFrames(session, true);
  await Promise.all([
    session.send('Network.setExtraHTTPHeaders', params),
    sendToChildren(tabId, 'Network.setExtraHTTPHeaders', params),
  ]);
  await letFramesLoad(session);
}

async function prepareChild(tabId: number, sessionId: string): Promise<void> {
  await known;
  const { mocks, headers } = rulesOf(tabId);
  const send = (method: string, params: Fields) =>
    ignore(sendToChild(tabId, sessionId, method, params));
  if (mocks.length > 0) send('Fetch.enable', { patterns: stopsFor(mocks) });
  if (Object.keys(headers).length > 0) send('Network.setExtraHTTPHeaders', { headers });
}

async function takePaused(tabId: number, paused: Fields, sessionId?: string): Promise<void> {
  const goOn: Decision = {
    method: 'Fetch.continueRequest',
    params: { requestId: paused.requestId },
  };
  answering.set(paused, tabId);
  try {
    const { method, params } = (await decide(tabId, paused).catch(() => undefined)) ?? goOn;
    await sendToChild(tabId, sessionId, method, params);
  } catch {
    // An answer that Chrome refuses must not leave the page waiting for good.
    await sendToChild(tabId, sessionId, goOn.method, goOn.params);
  } finally {
    answering.delete(paused);
  }
}

/** Returns what becomes of a stopped request; nothing if it is to go on. */
async function decide(tabId: number, paused: Fields): Promise<Decision | undefined> {
  await known;
  const { allows } = await judge();
  // What the user keeps from clients is not answered by them either.
  const url = textIn(fieldsOf(paused.request), 'url') ?? '';
  if (mockFor(mocksOf(tabId), paused) === undefined || !allows(url)) return undefined;
  if (await isForDenied(tabId, paused, allows)) return undefined;
  // Chosen only now: another request may have used one up meanwhile.
  const { mocks } = rulesOf(tabId);
  const mock = mockFor(mocks, paused);
  if (mock === undefined) return undefined;
  const times = mock.times === undefined ? {} : { times: mock.times - 1 };
  const used: Mock = { ...mock, ...times, used: mock.used + 1 };
  const next = mocks.map((each) => (each === mock ? used : each));
  rules.set(tabId, { ...rulesOf(tabId), mocks: next });
  if (mock.times !== undefined) await keep().catch(() => undefined);
  return answerOf(mock, paused);
}

/**
 * Whether an answer could become part of a page that the user keeps from clients: a script that its
 * frame asks another site for runs as that frame's own. A document is only what its address says.
 */
async function isForDenied(
  tabId: number,
  paused: Fields,
  allows: (url: string) => boolean,
): Promise<boolean> {
  if (textIn(paused, 'resourceType') === 'Document') return false;
  const frames = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
  return frames.some(({ url }) => !allows(url));
}

/** Forgets a tab that is closed. */
async function forget(tabId: number): Promise<void> {
  // It may have woken the worker: what is kept now would be the rules of no tab at all.
  await known;
  drop(tabId);
  ended.delete(tabId);
  await keep();
}

function noteEnd(tabId: number, reason: string): void {
  const { mocks, headers } = rulesOf(tabId);
  drop(tabId);
  if (mocks.length === 0 && Object.keys(headers).length === 0) return;
  const count = mocks.length === 1 ? '1 mock' : `${mocks.length} mocks`;
  const what = mocks.length > 0 ? count : 'the extra headers';
  const text = `${what} of this tab ended, because the debugger was detached (${reason}); set them again`;
  ended.set(tabId, text);
  emitEvent('network', { tabId, ended: text }, 'warning');
  ignore(keep());
}

function drop(tabId: number): void {
  rules.delete(tabId);
  holds.get(tabId)?.release();
  holds.delete(tabId);
}

async function keep(): Promise<void> {
  try {
    await chrome.storage.session.set({ [KEY]: Object.fromEntries(rules) });
  } catch {
    throw new CommandError(
      'TOO_LARGE',
      "the browser's store for what must outlive the worker is full; end some mocks with unmock",
    );
  }
}

function isRules(value: unknown): value is Rules {
  return (
    isRecord(value) &&
    Array.isArray(value.mocks) &&
    value.mocks.every(isMock) &&
    isRecord(value.headers)
  );
}
