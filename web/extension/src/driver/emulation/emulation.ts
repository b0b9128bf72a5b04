/**
 * What tabs are made to see, while it is in force: screen, device, place, time, language, network.
 *
 * The debugger undoes emulation when it lets go, so a tab with any stays attached, and what was in
 * force is put in force again when it is attached anew. Frames of other processes and workers see
 * the same, those that come later before they load. Kept in `storage.session`: it survives the
 * worker. It ends with a reset, the tab, its release and the user's Stop.
 */

import { CommandError, invalid } from '../../command';
import { Kept } from '../../storage';
import { deferred, ignore } from '../common/time-limits';
import type { Page } from '../page/page';
import {
  followFrames,
  letFramesLoad,
  onChildSession,
  sendToChild,
  sendToChildren,
} from '../tab/child-sessions';
import { addKeeper, isAttached, openSession, ProtocolFailure, type Session } from '../tab/debugger';
import {
  changed,
  commandsOf,
  type Emulation,
  type EmulationChange,
  frameCommandsOf,
  isEmulation,
  isNothing,
  isOn,
  PARTS,
} from './emulation-state';
import { answerInDocuments, answerNow, endInDocuments, forgetNow } from './geolocation';

interface Entry {
  readonly state: Emulation;
  /** The debugger's name of the script that answers for the place. */
  readonly script?: string;
}

type KeptEntries = Array<[number, Entry]>;

const PAGE_ANSWERS_WITHIN_MS = 10_000;
const NOTHING: Entry = { state: {} };

const kept = new Kept<KeptEntries>('session', 'driver.emulation', isKept);
const entries = new Map<number, Entry>();
/** What tabs are just being made to see: frames that come meanwhile are made to see it too. */
const becoming = new Map<number, Emulation>();
const { promise: known, resolve: setKnown } = deferred<void>();

/** Changes what a tab is made to see; returns all that is in force then. */
export async function emulate(page: Page, change: EmulationChange): Promise<Emulation> {
  const before = entries.get(page.tabId) ?? NOTHING;
  const state = changed(before.state, change);
  const send: Session['send'] = (method, params) => page.send(method, params);
  const done: string[] = [];
  const frames: Array<Promise<void>> = [];
  becoming.set(page.tabId, state);
  try {
    await follow(page, state);
    for (const part of Object.keys(PARTS)) {
      if (isSame(part, before.state, state)) continue;
      done.push(part);
      await sendPart(send, part, state);
      frames.push(sendToFrames(page.tabId, part, state));
    }
    await Promise.all(frames);
    const script = await movePlace(page, send, before, state);
    // After the user's Stop nothing may be in force again.
    page.limits.signal.throwIfAborted();
    set(page.tabId, { state, ...(script === undefined ? {} : { script }) });
    await letFramesLoad(await page.session());
    return state;
  } catch (error) {
    const session = await page.session();
    // Not what was before: a tab that was given back meanwhile has nothing any more.
    await putBack(session, done, entries.get(page.tabId)?.state ?? {});
    if (done.includes('place')) await putPlaceBack(page.tabId, session, before.script);
    await letFramesLoad(session);
    throw explain(error);
  } finally {
    becoming.delete(page.tabId);
  }
}

/** Has the frames of a tab told, if there is anything for them to see. */
async function follow(page: Page, state: Emulation): Promise<void> {
  if (isNothing(state)) return;
  await page.guard(followFrames(await page.session(), true), PAGE_ANSWERS_WITHIN_MS);
}

/** The page itself, and the documents that come, were perhaps told of a place already. */
async function putPlaceBack(tabId: number, session: Session, old?: string): Promise<void> {
  const entry = entries.get(tabId);
  const place = entry?.state.geolocation;
  ignore(Promise.resolve().then(() => answerNow(tabId, place, place === undefined)));
  if (entry === undefined || place === undefined) return;
  if (old !== undefined) await endInDocuments(session.send, old);
  const script = await answerInDocuments(session.send, place).catch(() => undefined);
  set(tabId, { state: entry.state, ...(script === undefined ? {} : { script }) });
}

/** Half of a change is none; what was refused is put back too. */
async function putBack(session: Session, parts: readonly string[], to: Emulation): Promise<void> {
  for (const part of parts) {
    await sendPart(session.send, part, to).catch(() => undefined);
    ignore(sendToFrames(session.tabId, part, to));
  }
}

/** Ends all emulation of a tab that is given back; nothing waits for it. */
export function endEmulation(tabId: number): void {
  const entry = entries.get(tabId);
  if (entry === undefined) return;
  forget(tabId);
  if (entry.state.geolocation !== undefined) forgetNow(tabId);
  // Where nothing is attached, nothing is in force.
  if (isAttached(tabId)) ignore(undo(tabId, entry));
}

/** Forgets all emulation, as when the user stops everything; detaching undoes it. */
export function endAllEmulation(): void {
  for (const [tabId, { state }] of entries) {
    if (state.geolocation !== undefined) forgetNow(tabId);
  }
  entries.clear();
  keep();
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerEmulation(): void {
  addKeeper({ needs: (tabId) => entries.has(tabId), restore });
  onChildSession({
    prepare: prepareChild,
    waits: (tabId) => entries.has(tabId) || !isNothing(becoming.get(tabId) ?? {}),
  });
  chrome.tabs.onRemoved.addListener(forget);
}

/** Reads what an earlier worker left. */
export async function restoreEmulation(): Promise<void> {
  try {
    for (const [tabId, entry] of (await kept.load()) ?? []) {
      if (!entries.has(tabId)) entries.set(tabId, entry);
    }
  } finally {
    setKnown();
  }
}

/** Follows again the frames that an earlier worker did; attachments must be adopted before. */
export function resumeEmulation(): void {
  for (const tabId of entries.keys()) if (isAttached(tabId)) ignore(resume(tabId));
}

async function resume(tabId: number): Promise<void> {
  const session = await openSession(tabId);
  try {
    if (entries.has(tabId)) await followFrames(session, true);
  } finally {
    session.release();
  }
}

/** Makes a frame see what its tab does; what it refuses is its tab's matter. */
async function prepareChild(tabId: number, sessionId: string): Promise<void> {
  await known;
  const state = becoming.get(tabId) ?? entries.get(tabId)?.state ?? {};
  for (const part of Object.keys(PARTS).filter((each) => isOn(each, state))) {
    for (const { method, params } of frameCommandsOf(part, state)) {
      ignore(sendToChild(tabId, sessionId, method, params));
    }
  }
}

async function sendToFrames(tabId: number, part: string, state: Emulation): Promise<void> {
  const commands = frameCommandsOf(part, state);
  await Promise.all(commands.map(({ method, params }) => sendToChildren(tabId, method, params)));
}

/** Puts in force again what detaching undid; what is refused now is not in force any more. */
async function restore(tabId: number, send: Session['send']): Promise<void> {
  const entry = entries.get(tabId);
  if (entry === undefined) return;
  let { state } = entry;
  await followFrames({ tabId, send }, true);
  for (const part of Object.keys(PARTS)) {
    if (!isOn(part, state)) continue;
    try {
      await sendPart(send, part, state);
    } catch (error) {
      if (!(error instanceof ProtocolFailure)) throw error;
      state = without(part, state);
    }
  }
  const place = state.geolocation;
  const script = place === undefined ? undefined : await answerInDocuments(send, place);
  // The document that came meanwhile was not told; one that cannot be is no reason to fail.
  if (place !== undefined) ignore(Promise.resolve().then(() => answerNow(tabId, place, false)));
  if (isNothing(state)) forget(tabId);
  else set(tabId, { state, ...(script === undefined ? {} : { script }) });
}

async function undo(tabId: number, { state, script }: Entry): Promise<void> {
  const session = await openSession(tabId);
  try {
    // First, and then the document that came meanwhile: none may go on telling of the place.
    if (script !== undefined) {
      await endInDocuments(session.send, script);
      forgetNow(tabId);
    }
    for (const part of Object.keys(PARTS)) {
      // One that is refused must not leave the others in force.
      if (!isOn(part, state)) continue;
      await sendPart(session.send, part, {}).catch(() => undefined);
      ignore(sendToFrames(tabId, part, {}));
    }
    await letFramesLoad(session);
  } finally {
    session.release();
  }
}

/** Has the page answer with its place; returns the name of what does it in later documents. */
async function movePlace(
  page: Page,
  send: Session['send'],
  { state: before, script }: Entry,
  { geolocation }: Emulation,
): Promise<string | undefined> {
  if (isSame('place', before, { ...(geolocation && { geolocation }) })) return script;
  if (script !== undefined) await endInDocuments(send, script);
  // Frames of sites that the user keeps from clients are left alone.
  const allFrames = !(await page.services.limitsSites());
  page.limits.signal.throwIfAborted();
  const answered = answerNow(page.tabId, geolocation, allFrames);
  // A page that cannot be scripted (an error page, a blank one) has nobody to tell.
  await page.guard(
    answered.catch(() => undefined),
    PAGE_ANSWERS_WITHIN_MS,
  );
  if (geolocation === undefined) return undefined;
  // Waited for without the call's limits: one whose name nobody heard could not be ended.
  const told = await answerInDocuments((await page.session()).send, geolocation);
  if (!page.limits.signal.aborted || told === undefined) return told;
  await endInDocuments((await page.session()).send, told);
  throw page.limits.signal.reason;
}

async function sendPart(send: Session['send'], part: string, state: Emulation): Promise<void> {
  // At once, not in turn: a page must not look between two that belong together.
  await Promise.all(commandsOf(part, state).map(({ method, params }) => send(method, params)));
}

function isSame(part: string, one: Emulation, other: Emulation): boolean {
  return JSON.stringify(commandsOf(part, one)) === JSON.stringify(commandsOf(part, other));
}

function without(part: string, state: Emulation): Emulation {
  const gone = (PARTS[part] ?? []).map((field) => [field, undefined]);
  return changed(state, Object.fromEntries(gone));
}

function explain(error: unknown): unknown {
  if (!(error instanceof ProtocolFailure)) return error;
  const { reason } = error;
  if (/invalid timezone/i.test(reason)) {
    return invalid('timezoneId: there is no such time zone; give an IANA name like Europe/Berlin');
  }
  if (/invalid locale/i.test(reason)) {
    return invalid('locale: there is no such language; give a name like de-DE or pt-BR');
  }
  if (/already in effect/i.test(reason)) {
    return new CommandError(
      'EMULATION_FAILED',
      'another tab that shares its process with this one has a time zone or locale of its own, ' +
        'and a process has one; reset the emulation there first',
    );
  }
  return new CommandError('EMULATION_FAILED', `the browser refused it: ${reason}; nothing changed`);
}

function set(tabId: number, entry: Entry): void {
  if (isNothing(entry.state)) entries.delete(tabId);
  else entries.set(tabId, entry);
  keep();
}

function forget(tabId: number): void {
  if (entries.delete(tabId)) keep();
}

function keep(): void {
  ignore(kept.save([...entries]));
}

function isKept(value: unknown): value is KeptEntries {
  return Array.isArray(value) && value.every(isKeptEntry);
}

function isKeptEntry(value: unknown): boolean {
  if (!Array.isArray(value) || typeof value[0] !== 'number') return false;
  const entry: unknown = value[1];
  return (
    typeof entry === 'object' && entry !== null && 'state' in entry && isEmulation(entry.state)
  );
}
