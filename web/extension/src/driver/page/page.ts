/**
 * What a command gets: its tab, for the time of one call.
 *
 * Attaches the debugger when it is first needed and gives it back at the end; calls the content
 * script; runs an act and waits for its effect. It knows no command.
 */

import type { CallingClient } from '@tabwire/shared';
import { CommandError } from '../../command';
import type { ActedOn, ActionReport } from '../../generated/command-results';
import type { CommandName, ParamsOf, ResultOf, Send } from '../common/protocol';
import { checkPage } from '../common/restricted-pages';
import type { Services } from '../common/services';
import { answerable, ignore, type Limits } from '../common/time-limits';
import { openSession, type Session } from '../tab/debugger';
import { Watch } from '../tab/signals';
import {
  ALL,
  type Answer,
  type AnswerOf,
  type ContentCall,
  callContent,
  DocumentGone,
  inDocument,
  type Method,
  raceWithTab,
  runFunction,
  TOP,
  type Where,
} from './content-calls';
import { judgeFrames } from './denied-frames';
import { type ActOutcome, awaitEffect, CAP_MS, type Passed } from './effect-wait';
import { addUp } from './effects';
import { whenParsed } from './loading';

// One frame and this long without a change: frameworks that batch into a frame are not missed.
const QUIET_MS = 16;
const TRIES = 3;

/** Who calls, for commands that need no tab. */
export interface Caller {
  readonly client: CallingClient;
  readonly services: Services;
  readonly limits: Limits;
}

/** What was done, for waiting until it has had its effect. */
export interface Performed {
  /** Settles when the browser has taken the input; may never. */
  readonly acted?: Promise<unknown>;
  /** The input is sent step by step, so the act is not done before the last step was taken. */
  readonly inSteps?: true;
  /** Where changes are being counted already; the top frame begins to count if absent. */
  readonly armed?: Where;
  readonly element?: ActedOn;
}

export class Page implements Caller {
  readonly tabId: number;
  readonly client: CallingClient;
  readonly services: Services;
  readonly limits: Limits;
  #session: Promise<Session> | undefined;

  constructor(tabId: number, caller: Caller) {
    this.tabId = tabId;
    this.client = caller.client;
    this.services = caller.services;
    this.limits = caller.limits;
  }

  /** Returns the tab as it is now. */
  async tab(): Promise<chrome.tabs.Tab> {
    return chrome.tabs.get(this.tabId).catch(() => {
      throw tabNotFound(this.tabId);
    });
  }

  /**
   * Returns the address by which the page is judged: an empty one that a page has opened is that
   * page's, with all that its scripts may reach there.
   */
  async site(): Promise<string> {
    const { url = '' } = await this.tab();
    if (!/^about:/i.test(url) || !(await this.services.limitsSites())) return url;
    const { frame } = (await this.send('Page.getFrameTree')).frameTree;
    const origin = frame.securityOrigin;
    // One that is nobody's is written without a scheme.
    return URL.canParse(origin) ? origin : url;
  }

  /** Returns the debugger's session, attaching if need be. */
  session(): Promise<Session> {
    this.#session ??= openSession(this.tabId);
    return this.#session;
  }

  /** Sends a debugger command, but waits no longer than the page lives and the call lasts. */
  async send<M extends CommandName>(
    method: M,
    params?: ParamsOf<M>,
    limitMs = 10_000,
  ): Promise<ResultOf<M>> {
    const session = await this.session();
    this.limits.signal.throwIfAborted();
    return this.guard(session.send(method, params), limitMs);
  }

  /** Waits for something that an open dialog or a closed tab would keep from happening. */
  guard<T>(work: Promise<T>, limitMs: number): Promise<T> {
    const { tabId, limits } = this;
    return raceWithTab(
      tabId,
      limits,
      limitMs,
      () => work,
      ({ type }) => (type === 'closed' ? tabNotFound(tabId) : undefined),
    );
  }

  /**
   * Calls the content script; throws `DocumentGone` when its document was replaced. What is about
   * all of a document, and what is not found in it, waits until it is parsed.
   */
  async call<M extends Method>(call: ContentCall<M>): Promise<Array<Answer<AnswerOf<M>>>> {
    const where = await this.#allowed(call.where);
    const ask = () => callContent(this.tabId, this.limits, { ...call, where });
    return whenParsed(this, call.method, ask);
  }

  /** Leaves out the frames of sites that the user keeps from clients; throws if none is left. */
  async #allowed(where: Where): Promise<Where> {
    const { frames, denied } = await judgeFrames(this.tabId, this.services);
    if (denied.size === 0 || where.type === 'top') return where;
    if (where.type === 'documents') {
      for (const [{ documentId }, refusal] of denied) {
        if (where.documentIds.includes(documentId)) throw refusal;
      }
      return where;
    }
    const allowed = frames.filter((frame) => !denied.has(frame));
    return { type: 'documents', documentIds: allowed.map(({ documentId }) => documentId) };
  }

  /** Calls the content script for what is not about one document: again, if that is replaced. */
  async read<M extends Method>(call: ContentCall<M>): Promise<Array<Answer<AnswerOf<M>>>> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.call(call);
      } catch (error) {
        if (!(error instanceof DocumentGone)) throw error;
        if (tries === TRIES) throw restless();
      }
    }
  }

  /** Runs a function of ours in frames; it may not close over anything. */
  run<A extends unknown[], R>(where: Where, func: (...args: A) => R, args: A) {
    return runFunction(this.tabId, this.limits, where, func, args);
  }

  /** Runs a function of ours in the page's own world, where what it sees and says is the page's. */
  async runInPage<A extends unknown[], R>(where: Where, func: (...args: A) => R, args: A) {
    const allowed = await this.#allowed(where);
    return runFunction(this.tabId, this.limits, allowed, func, args, 'MAIN');
  }

  /** Does something to the page and waits until it has had its effect. */
  async act(perform: (session: Session) => Promise<Performed>): Promise<ActionReport> {
    const session = await this.session();
    this.limits.signal.throwIfAborted();
    const watch = new Watch(this.tabId);
    try {
      const performed = await perform(this.#inDocument(session, watch));
      const outcome = await this.awaitEffect(watch, performed);
      return await this.report(watch, outcome, performed.element);
    } catch (error) {
      if (error instanceof DocumentGone) throw restless();
      throw error;
    } finally {
      watch.close();
    }
  }

  /** Sends input only while the call is wanted and the document is the one that was aimed at. */
  #inDocument(session: Session, watch: Watch): Session {
    const send: Send = async (method, params) => {
      // What is pressed must be let go, wherever that is.
      const isInput = method.startsWith('Input.') && !isRelease(params);
      if (isInput) this.limits.signal.throwIfAborted();
      if (isInput && watch.committed !== undefined) throw new DocumentGone('the page was left');
      return session.send(method, params);
    };
    return { ...session, send };
  }

  /** Starts counting changes at the top, for acts that no element tells the place of. */
  async armTop(): Promise<Where> {
    const [answer] = await this.read({ where: TOP, method: 'arm', args: [] });
    return answer === undefined ? TOP : inDocument(answer);
  }

  /** Waits until what was done has had its effect. */
  awaitEffect(watch: Watch, performed: Performed, mostMs = CAP_MS): Promise<ActOutcome> {
    const { acted, armed, inSteps = false } = performed;
    const capMs = answerable(this.limits, mostMs);
    const barrier = (leftMs: number) => this.#barrier(watch, armed, leftMs);
    const done = acted ?? Promise.resolve();
    return awaitEffect({ watch, limits: this.limits, acted: done, inSteps, barrier, capMs });
  }

  /** Tells what a watch has seen. */
  async report(watch: Watch, outcome: ActOutcome, element?: ActedOn): Promise<ActionReport> {
    const told = element === undefined ? {} : { element };
    if (watch.closed) return { url: '', closed: true, ...told };
    const { url = '', title = '' } = await this.tab();
    await this.services.checkSite(url);
    if (watch.newTab !== undefined) this.#claim(watch.newTab.tab);
    return {
      url,
      title,
      ...(watch.committed === undefined ? {} : { navigated: true }),
      ...(watch.sameDocument && watch.committed === undefined ? { sameDocument: true } : {}),
      ...(watch.dialog === undefined ? {} : { dialog: watch.dialog }),
      ...(watch.newTab === undefined ? {} : { newTab: watch.newTab }),
      ...(watch.download === undefined ? {} : { download: watch.download }),
      ...changesOf(watch, outcome),
      ...(watch.requests === 0 ? {} : { requests: watch.requests }),
      ...(outcome.busy ? { busy: true } : {}),
      ...told,
    };
  }

  /** Gives back what the call held. */
  close(): void {
    this.#session?.then((session) => session.release()).catch(() => {});
  }

  #claim(tabId: number): void {
    ignore(Promise.resolve(this.services.claim(tabId, this.client)));
  }

  async #barrier(watch: Watch, armed: Where | undefined, leftMs: number): Promise<Passed> {
    // The first round in a document that was not armed counts from now on.
    const isArmed = armed !== undefined && watch.committed === undefined;
    const answers = await this.call({
      where: isArmed ? armed : TOP,
      method: 'untilQuiet',
      args: [{ quietMs: QUIET_MS, capMs: Math.max(0, Math.round(leftMs)), tells: isArmed }],
      ...(isArmed ? {} : { arm: 'before' }),
      extraMs: leftMs,
    });
    const isRestless = answers.some(({ value }) => value.restless === true);
    return { changes: isArmed ? await addUp(this.tabId, answers) : undefined, isRestless };
  }
}

function isRelease(params: object | undefined): boolean {
  return params !== undefined && 'type' in params && /Released|keyUp/.test(String(params.type));
}

/** Where to count changes after an act in a frame: anywhere, as frames tell each other. */
export const EVERYWHERE: Where = ALL;

/**
 * Attaches before the tab goes elsewhere, so that a page that asks whether to leave can be
 * answered; returns whether it could. A page that hangs can be left without.
 */
export async function attachIfPossible(page: Page): Promise<boolean> {
  const { url = '' } = await page.tab();
  try {
    await checkPage(url, page.services);
  } catch (error) {
    // A site that the user keeps to themselves is left like any other.
    if (!(error instanceof CommandError) || error.code === 'RESTRICTED_PAGE') return false;
  }
  try {
    await page.session();
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/** Makes the error of a tab that is not there. */
export function tabNotFound(tabId: number): CommandError {
  return new CommandError(
    'TAB_NOT_FOUND',
    `there is no tab ${tabId}; list the tabs to see which are open`,
  );
}

function restless(): CommandError {
  return new CommandError(
    'PAGE_UNRESPONSIVE',
    'the page was replaced by another while it was being used; wait with browser_wait_for, ' +
      'then try again',
  );
}

function changesOf(watch: Watch, { changes }: ActOutcome): Pick<ActionReport, 'changes' | 'facts'> {
  if (changes === undefined || watch.committed !== undefined) return {};
  const { facts = [], ...counts } = changes;
  const { added, removed, attributes, text } = counts;
  return {
    ...(added + removed + attributes + text === 0 ? {} : { changes: counts }),
    ...(facts.length === 0 ? {} : { facts }),
  };
}
