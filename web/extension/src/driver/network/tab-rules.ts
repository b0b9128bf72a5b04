/**
 * What a client has decided about a tab's requests: mocks, and headers that go along.
 *
 * The debugger is held while there is any of it. The rules are in `storage.session`: a stopped
 * request wakes a worker that died, which reads them before it answers. They end with the tab,
 * when its client lets go of it, and when the debugger is detached from outside; that is told as
 * an event and by the next call.
 */

import { isRecord } from '../../check';
import { CommandError } from '../../command';
import { emitEvent } from '../common/hub-events';
import { permissions } from '../common/permissions';
import type { EventOf, ProtocolCommand } from '../common/protocol';
import { ignore } from '../common/time-limits';
import type { Page } from '../page/page';
import {
  followFrames,
  letFramesLoad,
  onChildSession,
  sendToChild,
  sendToChildren,
} from '../tab/child-sessions';
import { type Session, withSession } from '../tab/debugger';
import { onDebuggerEvent } from '../tab/debugger-events';
import { type Ending, KeptTabPart, TabPart, tabsRestored } from '../tab/tab-state';
import { answerOf, isMock, type Mock, mockFor, stopsFor } from './mocks';

type Headers = Readonly<Record<string, string>>;
type PausedRequest = EventOf<'Fetch.requestPaused'>;

interface Rules {
  readonly mocks: readonly Mock[];
  readonly headers: Headers;
}

const NO_RULES: Rules = { mocks: [], headers: {} };
// What was stopped for a worker that died at that moment goes on after this long.
const RELEASE_AFTER_MS = 1_000;
const APPLY_WITHIN_MS = 10_000;

const rules = new KeptTabPart<Rules>('rules', {
  lifetimes: ['attachment', 'use'],
  keepsAttached: true,
  // Without a mock or a header they would hold the debugger for nothing.
  read: (kept) => (isRules(kept) && !isEmpty(kept) ? kept : undefined),
  undo: end,
});
/** Why rules ended without being told to. */
const ended = new TabPart<string>(['tab']);
/** Requests that are being answered. */
const answering = new TabPart<Set<PausedRequest>>(['attachment']);

/** Returns a tab's mocks, oldest first. */
export function mocksOf(tabId: number): readonly Mock[] {
  return rulesOf(tabId).mocks;
}

/** Returns how many characters the mocks of all tabs answer with. */
export function allBodies(): number {
  const mocks = rules.tabs().flatMap(mocksOf);
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

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerTabRules(): void {
  onDebuggerEvent('Fetch.requestPaused', (...event) => ignore(takePaused(...event)));
  onChildSession({ prepare: prepareChild, waits: (tabId) => !isEmpty(rulesOf(tabId)) });
}

/** Puts in force again what an earlier worker left; attachments must be adopted before. */
export function resumeRules(): void {
  for (const tabId of rules.tabs()) ignore(withSession(tabId, resume));
}

async function resume(session: Session): Promise<void> {
  await applyAll(session);
  if (mocksOf(session.tabId).length > 0) setTimeout(() => release(session), RELEASE_AFTER_MS);
}

async function applyAll(session: Session): Promise<void> {
  await Promise.all([applyMocks(session), applyHeaders(session)]);
}

/** Lets go on what was stopped for an earlier worker. */
function release(session: Session): void {
  const { tabId } = session;
  if (mocksOf(tabId).length === 0) return;
  // What is just being answered would go on too, past its mock.
  if ((answering.get(tabId)?.size ?? 0) > 0) {
    setTimeout(() => release(session), RELEASE_AFTER_MS);
    return;
  }
  ignore(session.send('Fetch.disable'));
  ignore(session.send('Fetch.enable', { patterns: stopsFor(mocksOf(tabId)) }));
}

function rulesOf(tabId: number): Rules {
  return rules.get(tabId) ?? NO_RULES;
}

/** Changes a tab's rules and has the debugger follow; all of it, or nothing. */
async function change(
  page: Page,
  next: (before: Rules) => Rules,
  apply: (session: Session) => Promise<void>,
): Promise<void> {
  const { tabId } = page;
  const session = await page.session();
  const before = rulesOf(tabId);
  try {
    page.limits.signal.throwIfAborted();
    await page.guard(Promise.all([keep(tabId, next(before)), apply(session)]), APPLY_WITHIN_MS);
  } catch (error) {
    // The debugger may have gone meanwhile, and with it all rules.
    if (rules.has(tabId)) {
      ignore(keep(tabId, before));
      // It may have taken what was withdrawn, or still will.
      ignore(apply(session));
    }
    throw error;
  } finally {
    if (isEmpty(rulesOf(tabId))) rules.delete(tabId);
  }
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
  await Promise.all([session.send('Fetch.disable'), sendToChildren(tabId, 'Fetch.disable')]);
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
  await tabsRestored();
  const { mocks, headers } = rulesOf(tabId);
  if (mocks.length > 0) {
    ignore(sendToChild(tabId, sessionId, 'Fetch.enable', { patterns: stopsFor(mocks) }));
  }
  if (Object.keys(headers).length > 0) {
    ignore(sendToChild(tabId, sessionId, 'Network.setExtraHTTPHeaders', { headers }));
  }
}

async function takePaused(
  tabId: number,
  paused: PausedRequest,
  sessionId: string | undefined,
): Promise<void> {
  const { requestId } = paused;
  const requests = answering.ensure(tabId, () => new Set()).add(paused);
  try {
    const { method, params } = await decide(tabId, paused);
    await sendToChild(tabId, sessionId, method, params);
  } catch {
    // An answer that Chrome refuses must not leave the page waiting for good.
    await sendToChild(tabId, sessionId, 'Fetch.continueRequest', { requestId });
  } finally {
    requests.delete(paused);
  }
}

/** Returns what becomes of a stopped request. */
async function decide(tabId: number, paused: PausedRequest): Promise<ProtocolCommand> {
  const { requestId } = paused;
  const goOn = { method: 'Fetch.continueRequest', params: { requestId } } as const;
  await tabsRestored();
  const { allows } = await permissions();
  // What the user keeps from clients is not answered by them either.
  const { url } = paused.request;
  if (mockFor(mocksOf(tabId), paused) === undefined || !allows(url)) return goOn;
  if (await isForDenied(tabId, paused, allows)) return goOn;
  // Chosen only now: another request may have used one up meanwhile.
  const { mocks } = rulesOf(tabId);
  const mock = mockFor(mocks, paused);
  if (mock === undefined) return goOn;
  const times = mock.times === undefined ? {} : { times: mock.times - 1 };
  const used: Mock = { ...mock, ...times, used: mock.used + 1 };
  const next = mocks.map((each) => (each === mock ? used : each));
  const changed = { ...rulesOf(tabId), mocks: next };
  rules.setUnkept(tabId, changed);
  if (mock.times !== undefined) await keep(tabId, changed).catch(() => undefined);
  return answerOf(mock, paused);
}

/**
 * Whether an answer could become part of a page that the user keeps from clients: a script that its
 * frame asks another site for runs as that frame's own. A document is only what its address says.
 */
async function isForDenied(
  tabId: number,
  { resourceType }: PausedRequest,
  allows: (url: string) => boolean,
): Promise<boolean> {
  if (resourceType === 'Document') return false;
  const frames = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
  return frames.some(({ url }) => !allows(url));
}

/** Tells of an end that no client has asked for; where the debugger stays, it forgets them too. */
async function end({ mocks, headers }: Rules, tabId: number, ending: Ending): Promise<void> {
  if (ending.type === 'released') await withSession(tabId, applyAll);
  if (ending.type === 'closed' || ending.type === 'released') return;
  if (mocks.length === 0 && Object.keys(headers).length === 0) return;
  const reason = ending.type === 'detached' ? ending.reason : ending.type;
  const count = mocks.length === 1 ? '1 mock' : `${mocks.length} mocks`;
  const what = mocks.length > 0 ? count : 'the extra headers';
  const text = `${what} of this tab ended, because the debugger was detached (${reason}); set them again`;
  ended.set(tabId, text);
  emitEvent('network', { tabId, ended: text }, 'warning');
}

/** In force at once; throws `TOO_LARGE` when it cannot be kept. */
async function keep(tabId: number, next: Rules): Promise<void> {
  try {
    await rules.set(tabId, next);
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
