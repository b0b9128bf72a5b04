/**
 * Chrome's debugger: one owner per tab, attached when first needed and let go when idle.
 *
 * Every use goes through a `Session`. Pages cannot tell that `Page` and `Network` are on; nothing
 * else is enabled here. Attachments outlive the worker and are adopted by the next one. A tab is
 * never let go while a dialog is open, because nobody could answer it afterwards. When the user
 * presses Cancel, running calls fail and only a new call attaches again.
 */

import { isRecord, messageOf } from '../../check';
import { CommandError } from '../../command';
import type { Send } from '../common/protocol';
import { refusal } from '../common/restricted-pages';
import { deferred, ignore } from '../common/time-limits';
import { sendToChild } from './child-sessions';
import { emitDebuggerEvent, topFrames } from './debugger-events';
import { dialogOf } from './dialogs';
import { emitSignal } from './signals';
import { endLifetime, keepsAttached, knownTabs, TabPart } from './tab-state';

const PROTOCOL_VERSION = '1.3';
const IDLE_MS = 30_000;
// Page.enable does not answer when a dialog was open before; on a busy machine it answers late.
const ENABLE_WITHIN_MS = 6_000;
// Focus emulation makes a background tab believe that it is seen, but as soon as something changes
// to be drawn its frames stop, and with them input, animation frames and screenshots. A screencast,
// even one that sends nothing, keeps them coming (measured: 60 per second instead of 1).
const DRAW_IN_BACKGROUND = {
  format: 'jpeg' as const,
  quality: 1,
  maxWidth: 1,
  maxHeight: 1,
  everyNthFrame: 1_000_000,
};

// Bodies that Chrome keeps for whoever asks for a request: the newest of each process.
const KEPT_BODIES = {
  maxTotalBufferSize: 24 * 1024 * 1024,
  maxResourceBufferSize: 6 * 1024 * 1024,
};

/** A hold on a tab's debugger; given back with `release`. */
export interface Session {
  readonly tabId: number;
  readonly send: Send;
  release(): void;
}

/** Puts in force again what detaching has undone. */
type Restore = (tabId: number, send: Send) => Promise<void>;

const attachments = new TabPart<Promise<Attachment>>(['attachment'], (opening, _tabId, ending) => {
  const reason = ending.type === 'detached' ? ending.reason : '';
  opening.then((attachment) => attachment.end(detachedError(reason))).catch(() => {});
});
const restores = new Set<Restore>();

/** Has something done whenever a tab was attached to anew. */
export function onAttached(restore: Restore): void {
  restores.add(restore);
}

/** Attaches to a tab, or joins who is attached, until `release`. */
export async function openSession(tabId: number): Promise<Session> {
  let attachment = await join(tabId);
  attachment.hold();
  let isTried = false;
  let isHeld = true;
  return {
    tabId,
    async send(method, params) {
      const isFirst = !isTried;
      isTried = true;
      try {
        return await attachment.send(method, params);
      } catch (error) {
        // Our own detaching (the user's stop) is not told as an event: attach anew, once.
        if (!(error instanceof NotAttached) || !isFirst || !isHeld) throw error;
        const next = await join(tabId);
        // Given back meanwhile: nobody would give the new one back.
        if (!isHeld) {
          next.waitForIdle();
          throw error;
        }
        attachment = next;
        attachment.hold();
        return attachment.send(method, params);
      }
    },
    release() {
      if (isHeld) attachment.release();
      isHeld = false;
    },
  };
}

/** Attaches to a tab, or joins who is attached, for the time of some work. */
export async function withSession<T>(
  tabId: number,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await openSession(tabId);
  try {
    return await work(session);
  } finally {
    session.release();
  }
}

async function join(tabId: number): Promise<Attachment> {
  for (;;) {
    const opening = attachments.get(tabId) ?? begin(tabId);
    const attachment = await opening;
    if (attachment.ended === undefined) return attachment;
    if (attachments.get(tabId) === opening) attachments.delete(tabId);
  }
}

/** Has a tab in the background draw anew, should its frames have stopped all the same. */
export async function drawAnew({ send }: Session): Promise<void> {
  await send('Page.stopScreencast').catch(() => undefined);
  await send('Page.startScreencast', DRAW_IN_BACKGROUND).catch(() => undefined);
}

/** Tells whether we are attached to a tab, as far as this worker knows. */
export function isAttached(tabId: number): boolean {
  return attachments.has(tabId);
}

/** Starts to listen to Chrome; once, synchronously, when the worker starts. */
export function registerDebugger(): void {
  chrome.debugger.onEvent.addListener((source, method, params) => {
    if (source.tabId === undefined) return;
    emitDebuggerEvent(source.tabId, method, params ?? {}, source.sessionId);
  });
  chrome.debugger.onDetach.addListener((source, reason) => {
    if (source.tabId !== undefined) endAttachment(source.tabId, reason);
  });
}

/** Ends all that is in force and lets go of every tab at once: the user stops everything. */
export async function detachAll(): Promise<void> {
  for (const tabId of knownTabs()) ignore(endLifetime(tabId, { type: 'stopped' }));
  const targets = await chrome.debugger.getTargets();
  const known = targets.flatMap(({ attached, tabId }) => (attached && tabId ? [tabId] : []));
  const held = [...new Set([...attachments.tabs(), ...known])];
  await Promise.allSettled(held.map((tabId) => chrome.debugger.detach({ tabId })));
  // Our own detaching is not told as an event.
  for (const tabId of held) endAttachment(tabId, 'stopped');
}

/**
 * Takes over what an earlier worker left attached, so that it is let go in time; what it knew of
 * attachments that are gone ends.
 */
export async function adoptAttachments(): Promise<void> {
  const targets = await chrome.debugger.getTargets();
  for (const { attached, tabId } of targets) {
    if (attached && tabId !== undefined && !attachments.has(tabId)) ignore(adopt(tabId));
  }
  for (const tabId of knownTabs()) if (!isAttached(tabId)) endAttachment(tabId, 'gone');
}

class Attachment {
  readonly tabId: number;
  /** Why it is of no use any more. */
  ended: CommandError | undefined;
  #uses = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(tabId: number) {
    this.tabId = tabId;
  }

  hold(): void {
    this.#uses++;
    clearTimeout(this.#idle);
  }

  release(): void {
    this.#uses--;
    this.waitForIdle();
  }

  readonly send: Send = async (method, params) => {
    if (this.ended !== undefined) throw this.ended;
    try {
      return await sendToChild(this.tabId, undefined, method, params);
    } catch (error) {
      // The reason of a detachment arrives as an event, just after what it interrupts.
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (this.ended === undefined && /not attached/i.test(messageOf(error))) {
        this.end(new NotAttached());
        endAttachment(this.tabId, 'gone');
      }
      throw this.ended ?? commandFailure(method, error);
    }
  };

  end(reason: CommandError): void {
    this.ended ??= reason;
    clearTimeout(this.#idle);
  }

  waitForIdle(): void {
    clearTimeout(this.#idle);
    if (this.#uses === 0 && this.ended === undefined) {
      this.#idle = setTimeout(() => this.#letGo(), IDLE_MS);
    }
  }

  #letGo(): void {
    if (this.#uses > 0 || this.ended !== undefined) return;
    if (keepsAttached(this.tabId)) {
      this.waitForIdle();
      return;
    }
    this.end(new CommandError('DEBUGGER_REFUSED', 'the debugger was let go; call again'));
    ignore(chrome.debugger.detach({ tabId: this.tabId }));
    endAttachment(this.tabId, 'idle');
  }
}

function begin(tabId: number): Promise<Attachment> {
  const opening = attach(tabId);
  attachments.set(tabId, opening);
  opening.catch(() => {
    if (attachments.get(tabId) === opening) attachments.delete(tabId);
  });
  return opening;
}

function adopt(tabId: number): Promise<Attachment> {
  const opening = enable(new Attachment(tabId));
  attachments.set(tabId, opening);
  opening.then(
    (attachment) => attachment.waitForIdle(),
    () => {
      if (attachments.get(tabId) === opening) attachments.delete(tabId);
    },
  );
  return opening;
}

async function attach(tabId: number): Promise<Attachment> {
  try {
    await chrome.debugger.attach({ tabId }, PROTOCOL_VERSION);
  } catch (error) {
    // Perhaps it is our own, left by an earlier worker: then commands work.
    if (!/already attached/i.test(messageOf(error))) throw attachFailure(error);
    return enable(new Attachment(tabId)).catch(() => {
      throw attachFailure(error);
    });
  }
  try {
    return await enable(new Attachment(tabId), restoreKept);
  } catch (error) {
    ignore(chrome.debugger.detach({ tabId }));
    throw error;
  }
}

async function restoreKept(attachment: Attachment): Promise<void> {
  for (const restore of restores) await restore(attachment.tabId, attachment.send);
}

/** `more` is for a tab that was attached just now; an adopted one has kept all it had. */
async function enable(
  attachment: Attachment,
  more: (attachment: Attachment) => Promise<void> = async () => {},
): Promise<Attachment> {
  const { tabId } = attachment;
  // An adopted tab with an open dialog has all of this on, and would not answer.
  if (dialogOf(tabId) !== undefined) return attachment;
  const enabled = Promise.all([
    attachment.send('Page.enable'),
    attachment.send('Page.getFrameTree'),
    attachment.send('Network.enable', KEPT_BODIES),
    attachment.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
    // An adopted tab has one already, and without one all still works, only slower.
    attachment.send('Page.startScreencast', DRAW_IN_BACKGROUND).catch(() => undefined),
  ]);
  ignore(enabled);
  const { promise: late, reject } = deferred<never>();
  const timer = setTimeout(() => reject(stuckDialog()), ENABLE_WITHIN_MS);
  try {
    const [, tree] = await Promise.race([enabled, late]);
    topFrames.set(tabId, tree.frameTree.frame.id);
    emitDebuggerEvent(tabId, 'Tabwire.attached', {});
    await Promise.race([more(attachment), late]);
    return attachment;
  } finally {
    clearTimeout(timer);
  }
}

function stuckDialog(): CommandError {
  return new CommandError(
    'PAGE_UNRESPONSIVE',
    'the page does not answer: it is busy, or shows a dialog that opened before Tabwire could ' +
      'see it; answer it by hand, close the tab with browser_tab_close, or try again',
  );
}

function endAttachment(tabId: number, reason: string): void {
  ignore(endLifetime(tabId, { type: 'detached', reason }));
  emitDebuggerEvent(tabId, 'Tabwire.detached', {});
  emitSignal(tabId, { type: 'detached', reason });
}

function detachedError(reason: string): CommandError {
  const text =
    reason === 'canceled_by_user'
      ? "the user pressed Cancel in Chrome's debugging bar; ask before going on"
      : 'the debugger was detached: the tab was closed, or went to a page of Chrome itself';
  return new CommandError('DEBUGGER_REFUSED', text);
}

function attachFailure(error: unknown): CommandError {
  const message = messageOf(error);
  return (
    refusal(message) ??
    new CommandError(
      'DEBUGGER_REFUSED',
      `the debugger cannot be attached: ${message} Close other debuggers of this tab and try again`,
    )
  );
}

class NotAttached extends CommandError {
  constructor() {
    super('DEBUGGER_REFUSED', 'the debugger was detached; call again');
  }
}

/** A command that the debugger refused; `reason` is its own text. */
export class ProtocolFailure extends Error {
  override readonly name = 'ProtocolFailure';
  readonly reason: string;

  constructor(method: string, reason: string) {
    super(`${method}: ${reason}`);
    this.reason = reason;
  }
}

function commandFailure(method: string, error: unknown): Error {
  const message = messageOf(error);
  return refusal(message) ?? new ProtocolFailure(method, readReason(message));
}

// A refused command rejects with JSON as its message: `{"code":-32000,"message":"…"}`.
function readReason(message: string): string {
  try {
    const refused: unknown = JSON.parse(message);
    return isRecord(refused) ? String(refused.message ?? message) : message;
  } catch {
    return message;
  }
}
