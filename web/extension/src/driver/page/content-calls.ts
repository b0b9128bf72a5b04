/**
 * Calls the content script in a tab's frames.
 *
 * Injects it where it is missing, once per document. An injection may never answer (its document
 * was replaced, a dialog opened, the tab is frozen, a script hangs), so each is raced with all of
 * that. It does not know what is called; `content/api.ts` says what there is.
 */

import { messageOf } from '../../check';
import { CommandError } from '../../command';
import type { ContentApi, Problem } from '../../content/api';
import { refusal } from '../common/restricted-pages';
import { deferred, type Limits, within } from '../common/time-limits';
import { dialogOf, dialogOpen } from '../tab/dialogs';
import { listen, type Signal } from '../tab/signals';
import type { Parsing } from './loading';

const CONTENT_SCRIPT = 'content.js';
// A page that is this long without an answer is told as hanging, even if the call had more time.
const ANSWER_WITHIN_MS = 10_000;

type Method = Exclude<keyof ContentApi, 'parsing' | 'version'>;
type ArgumentsOf<M extends Method> = Parameters<ContentApi[M]>;
type AnswerOf<M extends Method> = Awaited<ReturnType<ContentApi[M]>>;

export type { AnswerOf, Method };

/** Which frames of a tab. */
export type Where =
  | { readonly type: 'all' }
  | { readonly type: 'top' }
  | {
      readonly type: 'documents';
      readonly documentIds: readonly string[];
      /** The frame that holds them, if it is one frame. */
      readonly frameId?: number;
    };

export const TOP: Where = { type: 'top' };
export const ALL: Where = { type: 'all' };

/** A document and the frame that holds it. */
export interface DocumentPlace {
  readonly documentId: string;
  readonly frameId: number;
}

/** One frame's answer. */
export interface Answer<T> extends DocumentPlace {
  readonly value: T;
  /** There when the document was still being parsed. */
  readonly parsing?: Parsing;
}

/** A call of the content script. */
export interface ContentCall<M extends Method> {
  readonly where: Where;
  readonly method: M;
  readonly args: ArgumentsOf<M>;
  /** Starts counting changes in the same breath, unless the method told a problem. */
  readonly arm?: 'after' | 'before';
  /** More time than usual, for methods that wait on purpose. */
  readonly extraMs?: number;
}

/** The document went away before it answered; calling again finds the new one. */
export class DocumentGone extends Error {
  override readonly name = 'DocumentGone';
}

/** Returns one document and no other. */
export function inDocument({ documentId, frameId }: DocumentPlace): Where {
  return { type: 'documents', documentIds: [documentId], frameId };
}

/** Calls a method of the content script; frames that cannot be entered give no answer. */
export async function callContent<M extends Method>(
  tabId: number,
  limits: Limits,
  call: ContentCall<M>,
): Promise<Array<Answer<AnswerOf<M>>>> {
  const late = (call.extraMs ?? 0) + ANSWER_WITHIN_MS;
  const work = () => callInjecting(tabId, limits, call);
  return raceWithTab(tabId, limits, late, work, (signal) => interruption(signal, call.where));
}

/** Runs a function of ours in the given frames: in the isolated world, unless it says otherwise. */
export async function runFunction<A extends unknown[], R>(
  tabId: number,
  limits: Limits,
  where: Where,
  func: (...args: A) => R,
  args: A,
  world: 'ISOLATED' | 'MAIN' = 'ISOLATED',
): Promise<Array<Answer<Awaited<R> | undefined>>> {
  const target = targetOf(tabId, where);
  const work = () =>
    chrome.scripting
      .executeScript({ target, func, args, world, injectImmediately: true })
      .then(
        (results) => results.map(({ result, ...place }) => ({ ...place, value: result })),
        explain,
      );
  return raceWithTab(tabId, limits, ANSWER_WITHIN_MS, work, (signal) =>
    interruption(signal, where),
  );
}

/** Tells an element's trouble from an answer. */
export function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'problem' in value;
}

async function callInjecting<M extends Method>(
  tabId: number,
  limits: Limits,
  call: ContentCall<M>,
): Promise<Array<Answer<AnswerOf<M>>>> {
  const answers = await execute(tabId, call, call.where, true);
  const missing = answers
    .filter(({ reply }) => 'missing' in reply)
    .map((answer) => answer.documentId);
  if (missing.length === 0) return unwrap<M>(answers);
  await injectScript(tabId, missing);
  limits.signal.throwIfAborted();
  const where: Where = { type: 'documents', documentIds: missing };
  const late = await execute(tabId, call, where, false);
  const all = [...answers.filter(({ documentId }) => !missing.includes(documentId)), ...late];
  return unwrap<M>(all.sort((one, other) => one.frameId - other.frameId));
}

type Reply = { missing: true } | { error: string } | { value: unknown; parsing?: Parsing };
type Replied = { frameId: number; documentId: string; reply: Reply };

async function execute<M extends Method>(
  tabId: number,
  { method, args, arm }: ContentCall<M>,
  where: Where,
  isVersionChecked: boolean,
): Promise<Replied[]> {
  const { version } = chrome.runtime.getManifest();
  const results = await chrome.scripting
    .executeScript({
      target: targetOf(tabId, where),
      func: callInPage,
      args: [isVersionChecked ? version : null, method, args, arm ?? null],
      injectImmediately: true,
    })
    .catch(explain);
  return results.flatMap(({ frameId, documentId, result }) => {
    if (result) return { frameId, documentId, reply: result };
    // Nothing comes of a document that is left before its promise is settled.
    if (frameId === 0 || where.type !== 'all') throw new DocumentGone('the page was left');
    return [];
  });
}

async function injectScript(tabId: number, documentIds: string[]): Promise<void> {
  const target = { tabId, documentIds };
  await chrome.scripting
    .executeScript({ target, files: [CONTENT_SCRIPT], injectImmediately: true })
    .catch(explain);
}

function unwrap<M extends Method>(answers: Replied[]): Array<Answer<AnswerOf<M>>> {
  return answers.map(({ frameId, documentId, reply }) => {
    if ('error' in reply) throw new Error(`content script: ${reply.error}`);
    if ('missing' in reply) throw new Error('the content script did not start');
    // The seam between worker and page: both sides are built from `content/api.ts`.
    const value = reply.value as AnswerOf<M>;
    const { parsing } = reply;
    return { frameId, documentId, value, ...(parsing === undefined ? {} : { parsing }) };
  });
}

// Serialised into the page: may not close over this module.
function callInPage(version: string | null, method: Method, args: unknown[], arm: string | null) {
  const { tabwire } = globalThis;
  if (tabwire === undefined || (version !== null && tabwire.version !== version)) {
    return { missing: true as const };
  }
  const finish = (value: unknown) => {
    const isProblem = typeof value === 'object' && value !== null && 'problem' in value;
    if (arm === 'after' && !isProblem) tabwire.arm();
    const parsing = tabwire.parsing();
    return parsing === null ? { value } : { value, parsing };
  };
  const fail = (error: unknown) => ({ error: String(error) });
  try {
    if (arm === 'before') tabwire.arm();
    const value: unknown = Reflect.apply(tabwire[method], tabwire, args);
    return value instanceof Promise ? value.then(finish, fail) : finish(value);
  } catch (error) {
    return fail(error);
  }
}

/** Waits for something that an open dialog, or what `interruption` says, keeps from happening. */
export async function raceWithTab<T>(
  tabId: number,
  limits: Limits,
  limitMs: number,
  start: () => Promise<T>,
  interruption: (signal: Signal) => Error | undefined,
): Promise<T> {
  // Before it is begun: what is withdrawn or refused must not happen all the same.
  limits.signal.throwIfAborted();
  const dialog = dialogOf(tabId);
  if (dialog !== undefined) throw dialogOpen(dialog);
  const { promise: stopped, reject } = deferred<never>();
  const stop = listen(tabId, (signal) => {
    if (signal.type === 'dialogOpened') reject(dialogOpen(signal.dialog));
    const error = interruption(signal);
    if (error !== undefined) reject(error);
  });
  try {
    return await within(Promise.race([start(), stopped]), limits, limitMs, unresponsive);
  } finally {
    stop();
  }
}

function interruption(signal: Signal, where: Where): Error | undefined {
  if (signal.type === 'closed') {
    return new CommandError('TAB_NOT_FOUND', 'the tab was closed meanwhile');
  }
  if (signal.type !== 'committed') return undefined;
  if (where.type === 'documents') {
    // A commit is told late: it may be of the very document that is being asked.
    const isAsked = where.documentIds.includes(signal.documentId);
    const isAround = signal.frameId === 0 || signal.frameId === where.frameId;
    return isAround && !isAsked ? new DocumentGone('the page was left') : undefined;
  }
  return signal.frameId === 0 || where.type === 'all'
    ? new DocumentGone('the page was replaced')
    : undefined;
}

/** Makes the error of a page that does not answer. */
export function unresponsive(): CommandError {
  return new CommandError(
    'PAGE_UNRESPONSIVE',
    'the page does not answer: a script keeps it busy, or a dialog is open that Tabwire cannot ' +
      'see; wait and try again, reload it with browser_reload, or close it with browser_tab_close',
  );
}

const DOCUMENT_GONE_TEXTS =
  /No (?:document|frame)s? with|document.*(?:not found|was removed)|Frame with ID [1-9]\d* was/i;

// Chrome rejects with texts that are no API; what is not recognised is passed on.
function explain(error: unknown): never {
  const message = messageOf(error);
  if (DOCUMENT_GONE_TEXTS.test(message)) {
    throw new DocumentGone(message);
  }
  throw refusal(message) ?? new Error(message);
}

function targetOf(tabId: number, where: Where): chrome.scripting.InjectionTarget {
  switch (where.type) {
    case 'all':
      return { tabId, allFrames: true };
    case 'top':
      return { tabId };
    case 'documents':
      return { tabId, documentIds: [...where.documentIds] };
    default:
      return where satisfies never;
  }
}
