import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptResults } from '../../src/background/results';
import { FakeChrome } from '../support/fake-chrome';

const LIMITS = { ends: 4, bytesPerEnd: 1000, bytes: 2500 };
const text = (characters: number) => ({ result: JSON.stringify('x'.repeat(characters - 2)) });

/** What became of an end: kept as it was, only that it happened, or nothing. */
async function fate(results: KeptResults, callId: string): Promise<string> {
  const end = await results.get(callId);
  if (end === undefined) return 'gone';
  return 'error' in end && /too large to keep/.test(end.error.message) ? 'noted' : 'kept';
}

async function fates(results: KeptResults, ...callIds: string[]): Promise<string[]> {
  return Promise.all(callIds.map((callId) => fate(results, callId)));
}

test('ends outlive the worker', async () => {
  new FakeChrome().install();
  await new KeptResults().set('a', { result: '{"color":"#cc0000"}' });
  await new KeptResults().set('b', { error: { code: 'TIMEOUT', message: 'too late' } });
  const next = new KeptResults();
  assert.deepEqual(await next.get('a'), { result: '{"color":"#cc0000"}' });
  assert.deepEqual(await next.get('b'), { error: { code: 'TIMEOUT', message: 'too late' } });
  assert.equal(await next.get('c'), undefined);
});

test('only the last ones are kept', async () => {
  const { session } = new FakeChrome().install();
  const results = new KeptResults(LIMITS);
  for (const id of ['a', 'b', 'c', 'd', 'e']) await results.set(id, text(10));
  assert.deepEqual(await fates(results, 'a', 'b', 'e'), ['gone', 'kept', 'kept']);
  // Four ends and their list.
  assert.equal(session.values.size, 5);
});

test('of an end that is too large it is only known that it happened', async () => {
  new FakeChrome().install();
  const results = new KeptResults(LIMITS);
  await results.set('large', text(501));
  await results.set('small', text(499));
  assert.deepEqual(await fates(results, 'large', 'small'), ['noted', 'kept']);
});

test('when room is needed the oldest results go, but not the knowledge of them', async () => {
  new FakeChrome().install();
  const results = new KeptResults(LIMITS);
  for (const id of ['a', 'b', 'c']) await results.set(id, text(490));
  assert.deepEqual(await fates(results, 'a', 'b', 'c'), ['noted', 'kept', 'kept']);
  // Another life counts what the one before has left.
  await new KeptResults(LIMITS).set('d', text(490));
  assert.deepEqual(await fates(results, 'a', 'b', 'c', 'd'), ['noted', 'noted', 'kept', 'kept']);
});

test('ends that come at the same time do not overwrite each other', async () => {
  new FakeChrome().install();
  const results = new KeptResults(LIMITS);
  await Promise.all(['a', 'b', 'c'].map((id) => results.set(id, text(10))));
  await results.set('d', text(10));
  await results.set('e', text(10));
  assert.deepEqual(await fates(results, 'a', 'b', 'c', 'd', 'e'), [
    'gone',
    'kept',
    'kept',
    'kept',
    'kept',
  ]);
});
