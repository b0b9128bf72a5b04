/**
 * What tabs are made to see, while it is in force: screen, device, place, time, language, network.
 *
 * The debugger undoes emulation when it lets go, so a tab with any stays attached, and what was in
 * force is put in force again when it is attached anew. Frames of other processes and workers see
 * the same, those that come later before they load. Kept in `storage.session`: it survives the
 * worker. It ends with a reset, the tab, its release and the user's Stop.
 */

import { isRecord } from '../../check';
import { CommandError, invalid } from '../../command';
import { ignore } from '../common/time-limits';
import type { Page } from '../page/page';
import {
  followFrames,
  letFramesLoad,
  onChildSession,
  sendToChild,
  sendToChildren,
} from '../tab/child-sessions';
import {
  isAttached,
  onAttached,
  ProtocolFailure,
  type Session,
  withSession,
} from '../tab/debugger';
import { type Ending, KeptTabPart, TabPart, tabsRestored } from '../tab/tab-state';
import {
  ALL_PARTS,
  changed,
  type Emulation,
  type EmulationChange,
  type EmulationPart,
  frameCommandsOf,
  isEmulation,
  isNothing,
  isOn,
  PARTS,
} from './emulation-state';
import { answerInDocuments, answerNow, endInDocuments, forgetNow } from './geolocation';

interface EmulationEntry {
  readonly state: Emulation;
  /** The debugger's name of the script that answers for the place. */
  readonly script?: string;
}

const PAGE_ANSWERS_WITHIN_MS = 10_000;
const NO_EMULATION: EmulationEntry = { state: {} };

const entries = new KeptTabPart<EmulationEntry>('emulation', {
  lifetimes: ['use'],
  keepsAttached: true,
  read: (kept) => (isEmulationEntry(kept) ? kept : undefined),
  undo: end,
});
/** What tabs are just being made to see: frames that come meanwhile are made to see it too. */
const becoming = new TabPart<Emulation>(['tab']);

/** Changes what a tab is made to see; returns all that is in force then. */
export async function emulate(page: Page, change: EmulationChange): Promise<Emulation> {
  const before = entries.get(page.tabId) ?? NO_EMULATION;
  const state = changed(before.state, change);
  const send: Session['send'] = (method, params) => page.send(method, params);
  const done: EmulationPart[] = [];
  const frames: Array<Promise<void>> = [];
  becoming.set(page.tabId, state);
  try {
    await follow(page, state);
    for (const part of ALL_PARTS) {
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
    if (done.includes(PARTS.place)) await putPlaceBack(page.tabId, session, before.script);
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
async function putBack(
  session: Session,
  parts: readonly EmulationPart[],
  to: Emulation,
): Promise<void> {
  for (const part of parts) {
    await sendPart(session.send, part, to).catch(() => undefined);
    ignore(sendToFrames(session.tabId, part, to));
  }
}

/** Ends the emulation of a tab that is given back; when the user stops everything, detaching does. */
async function end(entry: EmulationEntry, tabId: number, { type }: Ending): Promise<void> {
  if (type === 'closed') return;
  if (entry.state.geolocation !== undefined) forgetNow(tabId);
  // Where nothing is attached, nothing is in force.
  if (type === 'released' && isAttached(tabId)) await undo(tabId, entry);
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerEmulation(): void {
  onAttached(restore);
  onChildSession({
    prepare: prepareChild,
    waits: (tabId) => entries.has(tabId) || !isNothing(becoming.get(tabId) ?? {}),
  });
}

/** Follows again the frames that an earlier worker did; attachments must be adopted before. */
export function resumeEmulation(): void {
  for (const tabId of entries.tabs()) {
    if (!isAttached(tabId)) continue;
    const resume = async (session: Session) => {
      if (entries.has(tabId)) await followFrames(session, true);
    };
    ignore(withSession(tabId, resume));
  }
}

/** Makes a frame see what its tab does; what it refuses is its tab's matter. */
async function prepareChild(tabId: number, sessionId: string): Promise<void> {
  await tabsRestored();
  const state = becoming.get(tabId) ?? entries.get(tabId)?.state ?? {};
  for (const part of ALL_PARTS.filter((each) => isOn(each, state))) {
    for (const { method, params } of frameCommandsOf(part, state)) {
      ignore(sendToChild(tabId, sessionId, method, params));
    }
  }
}

async function sendToFrames(tabId: number, part: EmulationPart, state: Emulation): Promise<void> {
  const commands = frameCommandsOf(part, state);
  await Promise.all(commands.map(({ method, params }) => sendToChildren(tabId, method, params)));
}

/** Puts in force again what detaching undid; what is refused now is not in force any more. */
async function restore(tabId: number, send: Session['send']): Promise<void> {
  const entry = entries.get(tabId);
  if (entry === undefined) return;
  let { state } = entry;
  await followFrames({ tabId, send }, true);
  for (const part of ALL_PARTS) {
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
  set(tabId, { state, ...(script === undefined ? {} : { script }) });
}

async function undo(tabId: number, { state, script }: EmulationEntry): Promise<void> {
  await withSession(tabId, async (session) => {
    // First, and then the document that came meanwhile: none may go on telling of the place.
    if (script !== undefined) {
      await endInDocuments(session.send, script);
      forgetNow(tabId);
    }
    for (const part of ALL_PARTS) {
      // One that is refused must not leave the others in force.
      if (!isOn(part, state)) continue;
      await sendPart(session.send, part, {}).catch(() => undefined);
      ignore(sendToFrames(tabId, part, {}));
    }
    await letFramesLoad(session);
  });
}

/** Has the page answer with its place; returns the name of what does it in later documents. */
async function movePlace(
  page: Page,
  send: Session['send'],
  { state: before, script }: EmulationEntry,
  { geolocation }: Emulation,
): Promise<string | undefined> {
  if (isSame(PARTS.place, before, { ...(geolocation && { geolocation }) })) return script;
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

async function sendPart(
  send: Session['send'],
  part: EmulationPart,
  state: Emulation,
): Promise<void> {
  // At once, not in turn: a page must not look between two that belong together.
  await Promise.all(part.commands(state).map(({ method, params }) => send(method, params)));
}

function isSame(part: EmulationPart, one: Emulation, other: Emulation): boolean {
  return JSON.stringify(part.commands(one)) === JSON.stringify(part.commands(other));
}

function without(part: EmulationPart, state: Emulation): Emulation {
  const gone = part.fields.map((field) => [field, undefined]);
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

function set(tabId: number, entry: EmulationEntry): void {
  if (isNothing(entry.state)) entries.delete(tabId);
  else entries.set(tabId, entry);
}

function isEmulationEntry(value: unknown): value is EmulationEntry {
  return isRecord(value) && isEmulation(value.state);
}
