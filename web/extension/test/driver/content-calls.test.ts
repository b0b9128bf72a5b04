/** What comes of documents that are left while their content script is asked. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ALL,
  callContent,
  DocumentGone,
  TOP,
  type Where,
} from '../../src/driver/page/content-calls';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
browser.tabs.set(1, { id: 1, url: 'https://a.test/', title: '', frozen: false });
const limits = { signal: new AbortController().signal, endsAt: performance.now() + 60_000 };

type Result = { value: unknown } | null;

/** Lets the browser answer for each frame, by its number. */
function answering(results: Result[]): void {
  const executeScript = async () =>
    results.map((result, frameId) => ({ frameId, documentId: `D${frameId}`, result }));
  Reflect.set(Reflect.get(globalThis, 'chrome'), 'scripting', { executeScript });
}

const ask = (where: Where) => callContent(1, limits, { where, method: 'listTools', args: [] });

test('a frame that is left before it answers is not among the answers', async () => {
  answering([{ value: 'top' }, null, { value: 'other' }]);
  const answers = await ask(ALL);
  assert.deepEqual(
    answers.map(({ frameId }) => frameId),
    [0, 2],
  );
});

test('a page, or a document that was asked by itself, is told to be gone', async () => {
  answering([null, { value: 'frame' }]);
  await assert.rejects(ask(ALL), DocumentGone);
  answering([null]);
  await assert.rejects(ask(TOP), DocumentGone);
  answering([{ value: 'top' }, null]);
  await assert.rejects(ask({ type: 'documents', documentIds: ['D1'], frameId: 1 }), DocumentGone);
});
