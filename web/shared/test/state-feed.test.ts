/**
 * The state on its way out: coalescing, patches, versions, and answers to questions.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StateFeed, type StateHandler } from '../src/state-feed';
import { isRecord } from '../src/values';
import { FakeClock } from './support/fake-clock';

type Update = { at: number; version: number; state?: unknown; patch?: unknown };

function feed(handler?: StateHandler) {
  const clock = new FakeClock();
  const begin = clock.now();
  const updates: Update[] = [];
  const answers: unknown[] = [];
  const errors: unknown[] = [];
  const feed = new StateFeed({
    handler,
    clock,
    append(message, raw) {
      assert.ok(message.type === 'stateUpdate' && message.stateEpoch === feed.stateEpoch);
      const payload = { [raw.field]: JSON.parse(raw.json) as unknown };
      updates.push({ at: clock.now() - begin, version: message.version, ...payload });
    },
    send: (frame) => answers.push(JSON.parse(frame)),
    onError: (error) => errors.push(error),
  });
  return { feed, clock, updates, answers, errors };
}

const big = <T extends object>(over: T) => ({
  title: 'a rather long title, so that a patch is smaller',
  ...over,
});

test('the first update is whole, later ones are patches, versions grow by one', async () => {
  const { feed: state, clock, updates } = feed();
  state.push(big({ a: 1 }));
  await clock.advance(100);
  state.push(big({ a: 2 }));
  assert.deepEqual(updates, [
    { at: 0, version: 1, state: big({ a: 1 }) },
    { at: 100, version: 2, patch: [{ op: 'replace', path: '/a', value: 2 }] },
  ]);
});

test('a patch that is not smaller is not sent', async () => {
  const { feed: state, clock, updates } = feed();
  state.push({ a: 1 });
  await clock.advance(100);
  state.push({ b: 2 });
  assert.deepEqual(updates.at(-1), { at: 100, version: 2, state: { b: 2 } });
});

test('many pushes become at most twenty updates per second, the last one wins', async () => {
  const { feed: state, clock, updates } = feed();
  for (let count = 0; count < 1000; count++) {
    state.push(big({ count }));
    await clock.advance(1);
  }
  await clock.advance(1000);
  assert.ok(updates.length <= 21, `${updates.length}`);
  assert.deepEqual(updates.at(-1)?.patch, [{ op: 'replace', path: '/count', value: 999 }]);
  assert.deepEqual(
    updates.map(({ version }) => version),
    updates.map((_, index) => index + 1),
  );
  for (let index = 1; index < updates.length; index++) {
    assert.ok((updates[index]?.at ?? 0) - (updates[index - 1]?.at ?? 0) >= 50);
  }
});

test('what waits is sent at once on demand, and only then', async () => {
  const { feed: state, clock, updates } = feed();
  state.push({ a: 1 });
  state.flush();
  assert.equal(updates.length, 1);
  state.push({ a: 2 });
  state.flush();
  assert.deepEqual(updates.at(-1), { at: 0, version: 2, state: { a: 2 } });
  await clock.advance(1000);
  assert.equal(updates.length, 2);
});

test('a state that did not change is not sent', async () => {
  const { feed: state, clock, updates } = feed();
  for (let count = 0; count < 5; count++) {
    state.push(big({ a: 1 }));
    await clock.advance(100);
  }
  assert.equal(updates.length, 1);
});

test('an app may go on changing the object it pushed', async () => {
  const { feed: state, clock, updates } = feed();
  const live = big({ list: [1] });
  state.push(live);
  live.list.push(2);
  await clock.advance(100);
  state.push(live);
  assert.deepEqual(updates.at(-1)?.patch, [{ op: 'add', path: '/list/1', value: 2 }]);
});

test('after a gap the next update is whole', async () => {
  const { feed: state, clock, updates } = feed();
  state.push(big({ a: 1 }));
  await clock.advance(100);
  state.restart();
  state.push(big({ a: 1 }));
  assert.deepEqual(updates.at(-1), { at: 100, version: 2, state: big({ a: 1 }) });
});

test('a state that cannot be sent is reported, uses no version, and the next one goes', async () => {
  const { feed: state, clock, updates, errors } = feed();
  state.push({ big: 'x'.repeat(5 << 20) });
  await clock.advance(100);
  state.push({ n: 1n });
  await clock.advance(100);
  state.push('fine');
  assert.deepEqual([errors.length, updates.length, updates[0]?.version], [2, 1, 1]);
});

test('a question is answered by the handler, with epoch and version', async () => {
  const asked: boolean[] = [];
  const { feed: state, answers } = feed((forceRefresh) => {
    asked.push(forceRefresh);
    return Promise.resolve({ a: 1 });
  });
  await state.answer({ requestId: 'r1', forceRefresh: true });
  await state.answer({ requestId: 'r2', forceRefresh: false });
  assert.deepEqual(asked, [true, false]);
  assert.deepEqual(answers[0], {
    type: 'stateResponse',
    requestId: 'r1',
    state: { a: 1 },
    stateEpoch: state.stateEpoch,
    version: 1,
  });
});

test('an answer equal to the last update has its version; another has the next and ends the patches', async () => {
  let now = big({ a: 1 });
  const { feed: state, clock, updates, answers } = feed(() => now);
  const version = () => {
    const answer = answers.at(-1);
    return isRecord(answer) ? answer.version : undefined;
  };
  state.push(now);
  await state.answer({ requestId: 'r', forceRefresh: true });
  assert.equal(version(), 1);
  now = big({ a: 2 });
  await state.answer({ requestId: 'r', forceRefresh: true });
  assert.equal(version(), 2);
  await clock.advance(100);
  state.push(big({ a: 3 }));
  assert.deepEqual(updates.at(-1), { at: 100, version: 3, state: big({ a: 3 }) });
});

test('without a handler the state that was pushed last is told, or that there is none', async () => {
  const { feed: state, answers } = feed();
  await state.answer({ requestId: 'r1', forceRefresh: false });
  state.push({ a: 1 });
  state.push({ a: 2 });
  await state.answer({ requestId: 'r2', forceRefresh: false });
  assert.deepEqual(answers[0], {
    type: 'stateError',
    requestId: 'r1',
    error: 'no state has been told yet',
  });
  assert.ok(isRecord(answers[1]));
  assert.deepEqual(answers[1].state, { a: 2 });
});

test('a handler that fails gives a stateError', async () => {
  const { feed: state, answers } = feed(() =>
    Promise.reject(new Error('the scene is not loaded yet')),
  );
  await state.answer({ requestId: 'r', forceRefresh: true });
  assert.deepEqual(answers, [
    { type: 'stateError', requestId: 'r', error: 'the scene is not loaded yet' },
  ]);
});
