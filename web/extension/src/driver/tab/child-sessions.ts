/**
 * The debugger's sessions of what a tab's own does not see: frames of other processes, workers.
 *
 * Without them their requests would not be seen, nor would they see what is emulated. They are
 * followed from the first call on that is about either, until the tab is let go; whoever wants
 * something to hold in all frames says so with `onChildSession`. Those that come later can be made
 * to wait until they are prepared. Chrome before 125 has no such sessions: there only the tab's own
 * process is reached.
 */

import type { CommandName, EventOf, ParamsOf, ResultOf } from '../common/protocol';
import { ignore } from '../common/time-limits';
import type { Session } from './debugger';
import { onDebuggerEvent } from './debugger-events';
import { TabPart } from './tab-state';

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

const KEPT_FRAME_BODIES = {
  maxTotalBufferSize: 8 * 1024 * 1024,
  maxResourceBufferSize: 6 * 1024 * 1024,
};

const ANSWER_WITHIN_MS = 1_000;

const followed = new TabPart<Followed>(['attachment']);
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
export async function sendToChildren<M extends CommandName>(
  tabId: number,
  method: M,
  params?: ParamsOf<M>,
): Promise<void> {
  const sessions = [...(followed.get(tabId)?.sessions ?? [])];
  if (sessions.length === 0) return;
  const answers = sessions.map((id) => sendToChild(tabId, id, method, params));
  // A worker that sleeps may not answer; it has the command all the same.
  const patience = new Promise((resolve) => setTimeout(resolve, ANSWER_WITHIN_MS));
  await Promise.race([Promise.allSettled(answers), patience]);
}

/** Sends a command to the session of a frame; without a name, to the tab's own. */
export async function sendToChild<M extends CommandName>(
  tabId: number,
  sessionId: string | undefined,
  method: M,
  params?: ParamsOf<M>,
): Promise<ResultOf<M>> {
  const target = sessionId === undefined ? { tabId } : { tabId, sessionId };
  // The browser's word for the shape of its answer is taken.
  return (await chrome.debugger.sendCommand(target, method, { ...params })) as ResultOf<M>;
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerChildSessions(): void {
  onDebuggerEvent('Target.attachedToTarget', (tabId, params) =>
    ignore(prepareSession(tabId, params)),
  );
  onDebuggerEvent('Target.detachedFromTarget', (tabId, { sessionId }) => {
    followed.get(tabId)?.sessions.delete(sessionId);
  });
}

async function prepareSession(
  tabId: number,
  { sessionId, waitingForDebugger: waits }: EventOf<'Target.attachedToTarget'>,
): Promise<void> {
  // A worker that was woken by this does not know yet that it follows the tab.
  const tab = followed.ensure(tabId, () => ({ sessions: new Set(), waits, isOurs: false }));
  tab.sessions.add(sessionId);
  ignore(sendToChild(tabId, sessionId, 'Network.enable', KEPT_FRAME_BODIES));
  ignore(sendToChild(tabId, sessionId, 'Target.setAutoAttach', autoAttach(true, tab.waits)));
  await Promise.allSettled([...preparations].map(({ prepare }) => prepare(tabId, sessionId)));
  // Commands are taken in order; some kinds answer none of them before they go on.
  if (waits) ignore(sendToChild(tabId, sessionId, 'Runtime.runIfWaitingForDebugger'));
}

// No kind is left out: what is not told of would wait for good.
function autoAttach(isOn: boolean, waits: boolean): ParamsOf<'Target.setAutoAttach'> {
  return { autoAttach: isOn, waitForDebuggerOnStart: isOn && waits, flatten: true };
}
