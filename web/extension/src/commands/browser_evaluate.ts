/**
 * Command `browser_evaluate`: runs JavaScript in the page's own world and returns its value.
 *
 * Works under any content security policy. Takes expressions, statements, top-level `await`,
 * `return`, and functions, which are called.
 */

import { messageOf } from '../check';
import { CommandError } from '../command';
import type { ResultOf } from '../driver/common/protocol';
import { answerable } from '../driver/common/time-limits';
import type { Page } from '../driver/page/page';
import { describeException } from '../driver/reading/console';
import { ProtocolFailure } from '../driver/tab/debugger';
import { defineCommand } from './define-command';

const PING_MS = 100;

export default defineCommand('browser_evaluate', async (page, { expression, awaitPromise }) => {
  for (const form of formsOf(expression)) {
    const answer = await evaluate(page, form, awaitPromise);
    if (isUnparsable(answer) && form.isTrial) continue;
    if (answer.result.type !== 'function') return jsonOf(answer);
    const called = { text: `(${expression}\n)()`, isRepl: false, isTrial: false };
    return jsonOf(await evaluate(page, called, awaitPromise));
  }
  return null;
});

/** One way to read what was given. */
interface Form {
  readonly text: string;
  /** With `await` at the top level; a promise is not waited for then. */
  readonly isRepl: boolean;
  /** Whether another form follows if this one does not parse. */
  readonly isTrial: boolean;
}

/** A text that does not parse has not run, so it can be tried in the next form. */
function formsOf(text: string): Form[] {
  // `{a: 1}` alone is an object here, not a block; a function is meant to be called.
  const isValue = /^\s*(?:\{[\s\S]*\}\s*;?\s*$|(?:async\s+)?function\b)/.test(text);
  const value = `(${text.trim().replace(/;$/, '')}\n)`;
  // What a text declares is its own: in a block it can be run again.
  const isDeclaring = /(?:^|[;\n}])\s*(?:class|const|let)\s/.test(text);
  return [
    ...(isValue ? [{ text: value, isRepl: false, isTrial: true }] : []),
    { text: isDeclaring ? `{${text}\n}` : text, isRepl: false, isTrial: true },
    { text, isRepl: true, isTrial: /\breturn\b/.test(text) },
    { text: `(async () => {${text}\n})()`, isRepl: false, isTrial: false },
  ];
}

async function evaluate(
  page: Page,
  { text: expression, isRepl: replMode }: Form,
  awaitPromise: boolean,
): Promise<ResultOf<'Runtime.evaluate'>> {
  try {
    const options = { awaitPromise, replMode, returnByValue: true, userGesture: true };
    // As long as the call lasts: how long code takes is its author's matter.
    const limitMs = answerable(page.limits, Infinity) - PING_MS;
    return await page.send('Runtime.evaluate', { expression, ...options }, limitMs);
  } catch (error) {
    if (isUnresponsive(error) && (await isAlive(page))) throw unfinished();
    if (!(error instanceof ProtocolFailure)) throw error;
    throw new CommandError('EVALUATION_FAILED', explain(error.reason));
  }
}

/** Tells code that waits from a page that hangs. */
async function isAlive(page: Page): Promise<boolean> {
  try {
    await page.send('Runtime.evaluate', { expression: '1' }, PING_MS);
    return true;
  } catch {
    return false;
  }
}

function isUnresponsive(error: unknown): boolean {
  return error instanceof CommandError && error.code === 'PAGE_UNRESPONSIVE';
}

function unfinished(): CommandError {
  return new CommandError(
    'TIMEOUT',
    'the code had not ended when the time was over, its promise is still pending; ' +
      'allow more time, or do not wait for it (awaitPromise: false)',
  );
}

function isUnparsable({ exceptionDetails: details }: ResultOf<'Runtime.evaluate'>): boolean {
  return details?.exception?.className === 'SyntaxError' && details.stackTrace === undefined;
}

function jsonOf({ exceptionDetails, result }: ResultOf<'Runtime.evaluate'>): unknown {
  if (exceptionDetails !== undefined) {
    throw new CommandError('EVALUATION_FAILED', describeException(exceptionDetails));
  }
  return result.value ?? result.unserializableValue ?? null;
}

function explain(reason: string): string {
  if (/navigated or closed|context was destroyed|context with given id/i.test(reason)) {
    return 'the page was left before the code had ended; its value is lost';
  }
  if (/reference chain|returned by value|not be cloned/i.test(reason)) {
    return 'the value cannot be written as JSON; return only the fields you need';
  }
  return messageOf(reason);
}
