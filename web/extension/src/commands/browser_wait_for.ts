/**
 * Command `browser_wait_for`: waits until something is so, or says that it did not become so.
 */

import { CommandError, invalid } from '../command';
import { performWait, type WaitWish } from '../driver/navigation/waits';
import { readRegex } from '../driver/network/linear-regex';
import { defineCommand } from './define-command';

export default defineCommand('browser_wait_for', async (page, { state, timeoutMs, ...ways }) => {
  const wish = readWish(ways, state);
  // An expression can do anything; the rest only looks.
  if (wish.type === 'expression' && (await page.services.isReadOnly())) throw onlyLooking();
  const began = performance.now();
  const isSo = await performWait(page, wish, timeoutMs);
  const waitedMs = Math.round(performance.now() - began);
  if (isSo) return { found: true, waitedMs };
  throw new CommandError(
    'TIMEOUT',
    `${describe(wish)} did not come true within ${waitedMs} ms; look with browser_snapshot`,
  );
});

function onlyLooking(): CommandError {
  return new CommandError(
    'READ_ONLY',
    'the user allows looking only, and an expression may change something; wait for a selector or a text',
  );
}

interface Ways {
  readonly selector: string | undefined;
  readonly text: string | undefined;
  readonly url: string | undefined;
  readonly expression: string | undefined;
  readonly networkIdle: boolean | undefined;
  readonly timeMs: number | undefined;
}

function readWish(ways: Ways, state: 'attached' | 'hidden' | 'visible'): WaitWish {
  const { selector, text, url, expression, networkIdle, timeMs } = ways;
  const given = Object.values(ways).filter((way) => way !== undefined && way !== false);
  if (given.length !== 1) {
    throw invalid('give exactly one of selector, text, url, expression, networkIdle or timeMs');
  }
  if (selector !== undefined) return { type: 'selector', selector, state };
  if (text !== undefined) {
    return { type: 'text', text, state: state === 'hidden' ? 'hidden' : 'visible' };
  }
  if (url !== undefined) return { type: 'url', pattern: readPattern(url), text: url };
  if (expression !== undefined) return { type: 'expression', expression };
  if (networkIdle === true) return { type: 'networkIdle' };
  return { type: 'time', timeMs: timeMs ?? 0 };
}

/** `/…/flags` is a regular expression, anything else a part of the address. */
function readPattern(url: string): (address: string) => boolean {
  const match = /^\/(.+)\/([dgimsuvy]*)$/.exec(url);
  if (match === null) return (address) => address.includes(url);
  return readRegex('url', match[1] ?? '', match[2] ?? '');
}

function describe(wish: WaitWish): string {
  switch (wish.type) {
    case 'selector':
      return `${wish.selector} being ${wish.state}`;
    case 'text':
      return `the text ${JSON.stringify(wish.text)} being ${wish.state}`;
    case 'url':
      return `an address with ${wish.text}`;
    case 'expression':
      return 'the expression';
    case 'networkIdle':
      return 'an idle network';
    case 'time':
      return 'the time';
    default:
      return wish satisfies never;
  }
}
