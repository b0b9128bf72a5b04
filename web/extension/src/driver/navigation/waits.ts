/**
 * Waiting until something is so: in any frame, and across navigations.
 *
 * Pages tell selectors and texts themselves, without being asked again and again; only expressions
 * are polled. A wait starts over in the new document when the page is replaced.
 */

import { CommandError } from '../../command';
import type { Condition } from '../../content/api';
import { pause } from '../common/time-limits';
import { ALL, DocumentGone, inDocument, isProblem } from '../page/content-calls';
import { trouble } from '../page/elements';
import type { Page } from '../page/page';
import { Watch } from '../tab/signals';
import { untilNetworkIdle } from './journeys';

export type WaitWish =
  | Condition
  | { readonly type: 'expression'; readonly expression: string }
  | { readonly type: 'networkIdle' }
  | { readonly type: 'time'; readonly timeMs: number }
  | { readonly type: 'url'; readonly pattern: (url: string) => boolean; readonly text: string };

// So that frames which came later are looked into as well.
const ROUND_MS = 1_000;
const POLL_MS = 50;

/** Waits; returns whether it became so in time. */
export async function performWait(page: Page, wish: WaitWish, timeoutMs: number): Promise<boolean> {
  const endsAt = Math.min(performance.now() + timeoutMs, page.limits.endsAt - POLL_MS);
  switch (wish.type) {
    case 'selector':
    case 'text':
      return untilCondition(page, wish, endsAt);
    case 'url':
      return untilUrl(page, wish.pattern, endsAt);
    case 'expression':
      return untilExpression(page, wish.expression, endsAt);
    case 'networkIdle':
      return untilNetworkIdle(page, endsAt - performance.now());
    case 'time':
      await pause(page.limits, wish.timeMs);
      return true;
    default:
      return wish satisfies never;
  }
}

async function untilCondition(page: Page, wish: Condition, endsAt: number): Promise<boolean> {
  for (;;) {
    const left = Math.max(0, endsAt - performance.now());
    try {
      if (await oneRound(page, wish, Math.min(ROUND_MS, left))) return true;
    } catch (error) {
      if (!(error instanceof DocumentGone)) throw error;
    }
    if (performance.now() >= endsAt) return false;
  }
}

/** Something shown may be in any frame; something hidden must be so in all. */
async function oneRound(page: Page, wish: Condition, roundMs: number): Promise<boolean> {
  const frames = await page.call({ where: ALL, method: 'waitFor', args: [wish, 0] });
  const now = frames.map(({ value }) => value);
  for (const value of now) {
    if (isProblem(value)) throw trouble(value, 1);
  }
  const isHidden = wish.state === 'hidden';
  if (isHidden ? now.every(Boolean) : now.some(Boolean)) return true;
  if (roundMs <= 0) return false;
  const waits = frames.map(async (frame) => {
    const [answer] = await page.call({
      where: inDocument(frame),
      method: 'waitFor',
      args: [wish, roundMs],
      extraMs: roundMs,
    });
    if (answer?.value !== true) throw new DocumentGone('not in this frame');
    return true;
  });
  // A round in which nothing came true is no failure: the next one looks again.
  return isHidden ? (await Promise.all(waits)).every(Boolean) : firstOf(waits);
}

async function firstOf(waits: Array<Promise<boolean>>): Promise<boolean> {
  try {
    return await Promise.any(waits);
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors : [error];
    const real = reasons.find((reason) => !(reason instanceof DocumentGone));
    if (real !== undefined) throw real;
    return false;
  }
}

async function untilUrl(
  page: Page,
  isWanted: (url: string) => boolean,
  endsAt: number,
): Promise<boolean> {
  const watch = new Watch(page.tabId);
  try {
    for (;;) {
      // Before the address is read: what moves the tab from then on must not be overlooked.
      watch.committed = undefined;
      watch.sameDocument = false;
      const { url = '' } = await page.tab();
      if (isWanted(url)) return true;
      const left = endsAt - performance.now();
      if (left <= 0) return false;
      const isMoved = () => watch.committed !== undefined || watch.sameDocument || watch.closed;
      await watch.until(isMoved, page.limits, left);
    }
  } finally {
    watch.close();
  }
}

async function untilExpression(page: Page, expression: string, endsAt: number): Promise<boolean> {
  for (;;) {
    if (await isTrue(page, expression)) return true;
    if (performance.now() >= endsAt) return false;
    await pause(page.limits, POLL_MS);
  }
}

async function isTrue(page: Page, expression: string): Promise<boolean> {
  const wrapped = `(async () => !!(await (${expression}\n)))()`;
  try {
    const options = { awaitPromise: true, returnByValue: true };
    const answer = await page.send('Runtime.evaluate', { expression: wrapped, ...options });
    const { className, description } = answer.exceptionDetails?.exception ?? {};
    if (className === 'SyntaxError') {
      throw new CommandError('EVALUATION_FAILED', String(description));
    }
    return answer.result.value === true;
  } catch (error) {
    // Between two documents nothing can be evaluated.
    if (error instanceof CommandError) throw error;
    return false;
  }
}
