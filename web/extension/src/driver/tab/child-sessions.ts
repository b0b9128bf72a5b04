/**
 * The debugger's sessions of what a tab's own does not see: frames of other processes, workers.
 *
 * Without them their requests would not be seen, nor would they see what is emulated. They are
 * followed from the first call on that is about either, until the tab is let go; whoever wants
 * something to hold in all frames says so with `onChildSession`. Those that come later can be made
 * to wait until they are prepared. Chrome before 125 has no such sessions: there only the tab's own
 * process is reached.
 */

import { ignore } from '../common/time-limits';
import { type Fields, fieldsOf, textIn } from '../fields';
import type { Session } from './debugger';
import { DETACHED, onDebuggerEvent } from './debugger-events';

/** Somebody who wants something to hold in all frames. */
export interface Preparation {
  /** Sends what is to hold in a session, without waiting for its answer. */
  prepare(tabId: number, sessionId: string): Promise<unknown>;
  /** Whether frames of a tab that come must be prepared before they load. */
  waits(tabId: number): boolean;
}

type Tab = Pick<Session, 'send' | 'tabId'>;

interface Followed {
  readonly sessions: Set<string>;
  waits: boolean;
  /** Whether this worker asked for it; a dead one's following goes on without telling what it had. */
  readonly isOurs: boolean;
}

const BODIES = { maxTotalBufferSize: 8 * 1024 * 1024, maxResourceBufferSize: 6 * 1024 * 1024 };

const ANSWER_WITHIN_MS = 1_000;

const followed = new Map<number, Followed>();
const preparations = new Set<Preparation>();

/** Does something in every such session before one that waits goes on; sends, without waiting. */
export function onChildSession(preparation: Preparation): void {
  preparations.add(preparation);
}

/** Follows the frames of a tab; those that come with `waits` are prepared before they load. */
export async function followFrames(session: Tab, waits: boolean): Promise<void> {
  const { tabId } = session;
  const known = followed.get(tabId);
  if (known?.isOurs === true && (known.waits || !waits)) return;
  followed.set(tabId, { sessions: known?.sessions ?? new Set(), waits, isOurs: true });
  // What an earlier worker followed is told again only when it is begun anew.
  if (known?.isOurs !== true) {
    ignore(session.send('Target.setAutoAttach', autoAttach(false, false)));
  }
  await session.send('Target.setAutoAttach', autoAttach(true, waits)).catch(() => undefined);
}

/** Lets frames that come load at once again, unless somebody needs them to wait. */
export async function letFramesLoad(session: Tab): Promise<void> {
  const known = followed.get(session.tabId);
  if (known?.waits !== true) return;
  if ([...preparations].some((preparation) => preparation.waits(session.tabId))) return;
  known.waits = false;
  await session.send('Target.setAutoAttach', autoAttach(true, false)).catch(() => undefined);
}

/** Sends a command to every followed frame; what a frame refuses is passed over. */
export async function sendToChildren(tabId: number, method: string, params: Fields): Promise<void> {
  const sessions = [...(followed.get(tabId)?.sessions ?? [])];
  if (sessions.length === 0) return;
  const answers = sessions.map((id) => sendToChild(tabId, id, method, params));
  // A worker that sleeps may not answer; it has the command all the same.
  const patience = new Promise((resolve) => setTimeout(resolve, ANSWER_WITHIN_MS));
  await Promise.race([Promise.allSettled(answers), patience]);
}

/** Sends a command to the session of a frame; without a name, to the tab's own. */
export async function sendToChild(
  tabId: number,
  sessionId: string | undefined,
  method: string,
  params: Fields = {},
): Promise<Fields> {
  const target = sessionId === undefined ? { tabId } : { tabId, sessionId };
  return fieldsOf(await chrome.debugger.sendCommand(target, method, params));
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerChildSessions(): void {
  onDebuggerEvent((tabId, method, params) => {
    const sessionId = textIn(params, 'sessionId') ?? '';
    if (method === 'Target.attachedToTarget') ignore(meet(tabId, sessionId, params));
    if (method === 'Target.detachedFromTarget') followed.get(tabId)?.sessions.delete(sessionId);
    if (method === DETACHED) followed.delete(tabId);
  });
  chrome.tabs.onRemoved.addListener((tabId) => {
    followed.delete(tabId);
  });
}

async function meet(tabId: number, sessionId: string, params: Fields): Promise<void> {
  // A worker that was woken by this does not know yet that it follows the tab.
  const tab = followed.get(tabId) ?? {
    sessions: new Set(),
    waits: params.waitingForDebugger === true,
    isOurs: false,
  };
  followed.set(tabId, tab);
  tab.sessions.add(sessionId);
  const send = (method: string, fields: Fields) =>
    ignore(sendToChild(tabId, sessionId, method, fields));
  send('Network.enable', BODIES);
  send('Target.setAutoAttach', autoAttach(true, tab.waits));
  await Promise.allSettled([...preparations].map(({ prepare }) => prepare(tabId, sessionId)));
  // Commands are taken in order; some kinds answer none of them before they go on.
  if (params.waitingForDebugger === true) send('Runtime.runIfWaitingForDebugger', {});
}

// No kind is left out: what is not told of would wait for good.
function autoAttach(isOn: boolean, waits: boolean): Fields {
  return { autoAttach: isOn, waitForDebuggerOnStart: isOn && waits, flatten: true };
}
