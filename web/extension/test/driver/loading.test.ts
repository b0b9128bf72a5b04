/** Documents that are being parsed, and tabs that have none yet. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/command';
import type { Answer, Method } from '../../src/driver/page/content-calls';
import {
  type Parsing,
  untilFirstDocument,
  WHOLE_WITHIN_MS,
  whenParsed,
} from '../../src/driver/page/loading';
import { emitSignal } from '../../src/driver/tab/signals';
import { fakePage } from '../support/fake-page';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();

const EMPTY: Parsing = { isEmpty: true, ageMs: 10 };
const BEGUN: Parsing = { isEmpty: false, ageMs: 10 };
const OLD: Parsing = { isEmpty: false, ageMs: WHOLE_WITHIN_MS };

function limits(ms = 60_000) {
  return { signal: new AbortController().signal, endsAt: performance.now() + ms };
}

interface Given {
  readonly parsing?: Parsing;
  readonly frameId?: number;
  readonly value?: unknown;
}

/** Asks a tab whose answers are these, one after the other; returns how often it was asked. */
async function ask(
  method: Method,
  given: readonly Given[],
  { ms = 60_000, onAsk = (_time: number) => {} } = {},
): Promise<number> {
  let times = 0;
  await whenParsed({ tabId: 1, limits: limits(ms) }, method, async () => {
    const { frameId = 0, ...answer } = given[Math.min(times, given.length - 1)] ?? {};
    times++;
    onAsk(times);
    const whole: Answer<unknown> = { frameId, documentId: 'D', value: null, ...answer };
    return [whole];
  });
  return times;
}

const parsed = () => emitSignal(1, { type: 'parsed' });

test('a document that shows something is asked again when it is parsed', async () => {
  const onAsk = () => setTimeout(parsed, 5);
  assert.equal(await ask('snapshot', [{ parsing: BEGUN }, {}], { onAsk }), 2);
});

test('what is parsed while its answer is on its way is not missed', async () => {
  assert.equal(await ask('content', [{ parsing: BEGUN }, {}], { onAsk: parsed }), 2);
});

test('a document that has had its time is taken as it is', async () => {
  assert.equal(await ask('snapshot', [{ parsing: OLD }]), 1);
});

test('a page that shows nothing is waited for as long as the call lasts, and no longer', async () => {
  const old = { isEmpty: true, ageMs: 60_000 };
  assert.equal(await ask('query', [{ parsing: old }, { parsing: old }, {}]), 3);
  const from = performance.now();
  await ask('snapshot', [{ parsing: EMPTY }], { ms: 400 });
  assert.ok(performance.now() - from < 400);
});

test('a frame that shows nothing has its time like any other document', async () => {
  const old = { isEmpty: true, ageMs: WHOLE_WITHIN_MS };
  assert.equal(await ask('snapshot', [{ parsing: old, frameId: 3 }]), 1);
});

test('other calls wait only for what they do not find', async () => {
  assert.equal(await ask('untilQuiet', [{ parsing: BEGUN }]), 1);
  assert.equal(await ask('aim', [{ parsing: BEGUN, value: { x: 1 } }]), 1);
  const missing = { parsing: BEGUN, value: { problem: 'not_found', matches: 0 } };
  const onAsk = () => setTimeout(parsed, 5);
  assert.equal(await ask('aim', [missing, {}], { onAsk }), 2);
});

const tab = { id: 1, title: '', frozen: false };
const underway = { ...tab, url: '', pendingUrl: 'https://a.test/', status: 'loading' as const };
const there = { ...tab, url: 'https://a.test/', status: 'loading' as const };

/** Waits for the tab's first document, and returns its address. */
async function firstOf(before: object, after: object): Promise<string | undefined> {
  browser.getTab = async () => before;
  const waiting = untilFirstDocument(fakePage(1), before as chrome.tabs.Tab);
  setTimeout(() => {
    browser.getTab = async () => after;
    emitSignal(1, { type: 'committed', url: '', frameId: 0, documentId: 'D' });
  }, 5);
  return (await waiting).url;
}

test('a tab without a document is waited for', async () => {
  assert.equal(await firstOf(underway, there), 'https://a.test/');
  assert.equal(await firstOf({ ...underway, url: 'about:blank' }, there), 'https://a.test/');
});

test('a tab that has a document, or is empty on purpose, is not', async () => {
  const blank = { ...tab, url: 'about:blank', status: 'complete' };
  for (const known of [there, blank] as unknown as chrome.tabs.Tab[]) {
    assert.equal(await untilFirstDocument(fakePage(1), known), known);
  }
});

test('a tab whose document does not come is told as loading', async () => {
  browser.getTab = async () => underway;
  const page = fakePage(1);
  Reflect.set(page, 'limits', limits(200));
  await assert.rejects(
    untilFirstDocument(page, underway as unknown as chrome.tabs.Tab),
    (error) => error instanceof CommandError && /still loading/.test(error.message),
  );
});
