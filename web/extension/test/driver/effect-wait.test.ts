import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Changes } from '../../src/content/api';
import { DocumentGone } from '../../src/driver/page/content-calls';
import { awaitEffect, type Passed } from '../../src/driver/page/effect-wait';
import { type Signal, Watch } from '../../src/driver/tab/signals';

const NOTHING: Changes<string> = { added: 0, removed: 0, attributes: 0, text: 0 };
const PASSED: Passed = { changes: NOTHING, isRestless: false };
const limits = { signal: new AbortController().signal, endsAt: Number.POSITIVE_INFINITY };
const never = new Promise<never>(() => {});

interface Script {
  readonly acted?: Promise<unknown>;
  readonly capMs?: number;
  readonly inSteps?: boolean;
  /** How long the call lasts; a minute if not said. */
  readonly callMs?: number;
  /** What happens at each barrier; the last goes on for ever. */
  readonly barriers?: ReadonlyArray<() => Promise<Passed>>;
}

function start(script: Script = {}) {
  const watch = new Watch(1);
  let passed = 0;
  const barriers = script.barriers ?? [async () => PASSED];
  const done = awaitEffect({
    watch,
    limits: { ...limits, endsAt: performance.now() + (script.callMs ?? 60_000) },
    acted: script.acted ?? Promise.resolve(),
    inSteps: script.inSteps ?? false,
    // Only a test that names a cap is about it.
    capMs: script.capMs ?? 60_000,
    barrier: () => {
      const barrier = barriers[Math.min(passed, barriers.length - 1)];
      passed++;
      return barrier === undefined ? never : barrier();
    },
  });
  const tell = async (...signals: Signal[]) => {
    for (const signal of signals) watch.take(signal);
    await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return { watch, done, tell, passed: () => passed };
}

const navigating: Signal = { type: 'navigating', url: '/b' };
const committed: Signal = { type: 'committed', url: '/b', frameId: 0, documentId: 'B' };

test('an act without effect ends after one barrier', async () => {
  const { done, passed } = start();
  assert.deepEqual(await done, { changes: NOTHING, busy: false });
  assert.equal(passed(), 1);
});

test('a dialog ends it, though the input is never acknowledged', async () => {
  const { done, tell, passed } = start({ acted: never });
  await tell({ type: 'dialogOpened', dialog: { type: 'alert', message: 'hi' } });
  assert.equal((await done).busy, false);
  assert.equal(passed(), 0);
});

test('a dialog ends a barrier that would never answer', async () => {
  const { done, tell } = start({ barriers: [() => never] });
  await tell({ type: 'dialogOpened', dialog: { type: 'alert', message: 'hi' } });
  assert.equal((await done).busy, false);
});

test('a navigation is followed into its new document', async () => {
  const { done, tell, passed } = start({
    barriers: [() => never, async () => PASSED],
  });
  await tell();
  await tell(navigating);
  await tell(committed);
  assert.equal(passed(), 1);
  await tell({ type: 'domReady' });
  assert.equal((await done).busy, false);
  assert.equal(passed(), 2);
});

test('a document that goes away under the barrier is met again', async () => {
  const { done, tell, passed } = start({
    barriers: [() => Promise.reject(new DocumentGone('gone')), async () => PASSED],
  });
  await tell(committed, { type: 'domReady' });
  await done;
  assert.equal(passed(), 2);
});

test('requests that began are waited for, and the page looked at again', async () => {
  const { done, tell, watch, passed } = start();
  watch.take({ type: 'requestStarted', id: 'n1', awaited: true });
  watch.take({ type: 'requestStarted', id: 'n2', awaited: false });
  await tell();
  assert.equal(passed(), 1);
  await tell({ type: 'requestEnded', id: 'n1' });
  await done;
  assert.equal(passed(), 2);
  assert.equal(watch.requests, 2);
});

test('a request seen by both sources counts once', () => {
  const watch = new Watch(1);
  watch.take({ type: 'requestStarted', id: 'n1', awaited: true });
  watch.take({ type: 'requestStarted', id: 'w1', awaited: true });
  assert.equal(watch.requests, 1);
  assert.equal(watch.pending, 2);
  watch.close();
});

test('a window that opens is waited for', async () => {
  const { done, tell, watch } = start({ barriers: [() => never] });
  await tell({ type: 'windowOpened' });
  await tell({ type: 'newTab', newTab: { tab: 7, url: '/c' } });
  await done;
  assert.deepEqual(watch.newTab, { tab: 7, url: '/c' });
});

test('a download that looks like a failed navigation is found', async () => {
  const { done, tell, watch } = start({ barriers: [() => never] });
  await tell(navigating);
  await tell({ type: 'failed', url: '/f', error: 'net::ERR_ABORTED', at: Date.now() });
  await tell({ type: 'downloading' });
  await tell({ type: 'download', download: { id: 1, filename: 'f', url: '/f' } });
  assert.equal((await done).busy, false);
  assert.equal(watch.download?.id, 1);
});

test('a tab that closes ends it', async () => {
  const { done, tell } = start({ acted: never });
  await tell({ type: 'closed' });
  assert.equal((await done).busy, false);
});

test('a page that never rests is told as busy at the cap', async () => {
  const { done } = start({ barriers: [() => never], capMs: 20 });
  assert.equal((await done).busy, true);
});

test('a page that says to be in motion all the time is told as busy', async () => {
  const { done } = start({ barriers: [async () => ({ ...PASSED, isRestless: true })] });
  assert.equal((await done).busy, true);
});

test('input that is refused fails the act', async () => {
  const { done } = start({ acted: Promise.reject(new Error('refused')) });
  await assert.rejects(done, /refused/);
});

test('input in steps is waited for beyond the cap, which is for its effect', async () => {
  let isTaken = false;
  const acted = new Promise((resolve) => setTimeout(resolve, 40)).then(() => {
    isTaken = true;
  });
  const { done } = start({ acted, inSteps: true, capMs: 10 });
  assert.deepEqual(await done, { changes: NOTHING, busy: false });
  assert.ok(isTaken);
});

test('steps that are not taken while the call lasts are no success', async () => {
  const { done } = start({ acted: never, inSteps: true, callMs: 200 });
  await assert.rejects(done, /does not answer/);
});
