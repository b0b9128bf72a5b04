/**
 * Calls: at most once, exactly one end, whatever handlers, hubs and stores do.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallHandler, Calls } from '../src/calls';
import { findFault } from '../src/check';
import { type CallTool, type FromBrowser, fromBrowserSchema } from '../src/generated/protocol';
import type { Call } from '../src/messages';
import { type CallEnd, memoryResults, type ResultStore } from '../src/result-store';
import { FakeClock, settled } from './support/fake-clock';

function runner(handler: CallHandler | undefined, results: ResultStore = memoryResults()) {
  const clock = new FakeClock();
  const sent: FromBrowser[] = [];
  const errors: unknown[] = [];
  let connected = true;
  const calls = new Calls({
    handler,
    results,
    clock,
    send(frame) {
      const message: unknown = JSON.parse(frame);
      assert.equal(findFault(fromBrowserSchema, message), undefined, frame);
      if (connected) sent.push(message as FromBrowser);
    },
    onError: (error) => errors.push(error),
  });
  const cut = () => {
    connected = false;
  };
  const restore = () => {
    connected = true;
  };
  return { calls, clock, sent, errors, cut, restore };
}

function call(over: Partial<CallTool> = {}): Call {
  const body = {
    callId: 'c1',
    target: 'app',
    toolName: 'paint',
    args: {},
    deadlineMs: 30_000,
  } as const;
  return { type: 'callTool', ...body, ...over };
}

/** A handler that waits to be told how to end. */
function pending() {
  const runs: {
    resolve(value: unknown): void;
    reject(error: unknown): void;
    signal: AbortSignal;
  }[] = [];
  const handler: CallHandler = (_, { signal }) =>
    new Promise((resolve, reject) => runs.push({ resolve, reject, signal }));
  return { handler, runs };
}

function failureOf(message: FromBrowser | undefined): string {
  assert.ok(message?.type === 'toolResult' && message.error, JSON.stringify(message));
  return message.error.code;
}

test('a result is told, null and nothing included', async () => {
  for (const [value, result] of [
    [{ a: 1 }, { a: 1 }],
    [null, null],
    [undefined, null],
    [0, 0],
  ]) {
    const { calls, sent } = runner(() => value);
    await calls.take(call());
    assert.deepEqual(sent, [{ type: 'toolResult', callId: 'c1', result }]);
  }
});

test('whatever is thrown becomes an error, with its code if that is a word', async () => {
  const cases: [unknown, string, string][] = [
    [new Error('boom'), 'TOOL_FAILED', 'boom'],
    [
      Object.assign(new Error('no #buy'), { code: 'ELEMENT_NOT_FOUND' }),
      'ELEMENT_NOT_FOUND',
      'no #buy',
    ],
    [Object.assign(new Error('odd'), { code: 7 }), 'TOOL_FAILED', 'odd'],
    [{ code: 'X', message: 'plain object' }, 'X', 'plain object'],
    ['just text', 'TOOL_FAILED', 'just text'],
    [undefined, 'TOOL_FAILED', 'the tool failed and did not say why'],
    [Object.create(null), 'TOOL_FAILED', 'the tool failed and did not say why'],
  ];
  for (const [thrown, code, message] of cases) {
    const { calls, sent } = runner(() => {
      throw thrown;
    });
    await calls.take(call());
    assert.deepEqual(sent, [{ type: 'toolResult', callId: 'c1', error: { code, message } }]);
  }
});

test('results that are not JSON, or too large, are errors', async () => {
  for (const [value, code] of [
    [1n, 'not_json'],
    ['x'.repeat(16 << 20), 'too_large'],
  ] as const) {
    const { calls, sent } = runner(() => value);
    await calls.take(call());
    assert.equal(failureOf(sent[0]), code);
  }
});

test('a repeated call that runs is not run again and gets one answer', async () => {
  const { handler, runs } = pending();
  const { calls, sent } = runner(handler);
  for (let count = 0; count < 3; count++) void calls.take(call());
  await settled();
  assert.equal(runs.length, 1);
  runs[0]?.resolve('done');
  await settled();
  assert.equal(sent.length, 1);
});

test('a repeated call that has ended is answered again and not run again', async () => {
  let runs = 0;
  const { calls, sent } = runner(() => ++runs);
  await calls.take(call());
  await calls.take(call());
  assert.equal(runs, 1);
  assert.deepEqual(sent[1], sent[0]);
});

test('the last 256 ends are kept', async () => {
  let runs = 0;
  const { calls } = runner(() => ++runs);
  for (let id = 0; id < 257; id++) await calls.take(call({ callId: `c${id}` }));
  await calls.take(call({ callId: 'c1' }));
  assert.equal(runs, 257, 'the 256 newest are known');
  await calls.take(call({ callId: 'c0' }));
  assert.equal(runs, 258, 'the one before them is not');
});

test('a call without time is refused and never run', async () => {
  let runs = 0;
  const { calls, sent } = runner(() => ++runs);
  await calls.take(call({ deadlineMs: 0 }));
  assert.equal(failureOf(sent[0]), 'deadline_exceeded');
  assert.equal(runs, 0);
});

test('a cancel aborts the signal, and the call answers once all the same', async () => {
  const { handler, runs } = pending();
  const { calls, sent } = runner(handler);
  void calls.take(call());
  await settled();
  calls.cancel('c1');
  assert.ok(runs[0]?.signal.aborted);
  runs[0]?.reject(new Error('stopped'));
  await settled();
  assert.equal(failureOf(sent[0]), 'cancelled');
  calls.cancel('c1');
  calls.cancel('never heard of');
  await settled();
  assert.equal(sent.length, 1);
});

test('a handler that ignores its signal is given up after a moment', async () => {
  const { handler, runs } = pending();
  const { calls, sent, clock } = runner(handler);
  void calls.take(call());
  await settled();
  calls.cancel('c1');
  await clock.advance(1000);
  assert.equal(failureOf(sent[0]), 'cancelled');
  runs[0]?.resolve('too late');
  await clock.advance(60_000);
  assert.equal(sent.length, 1);
});

test('at the deadline the signal is aborted and the call answered', async () => {
  const { handler, runs } = pending();
  const { calls, sent, clock } = runner(handler);
  void calls.take(call({ deadlineMs: 200 }));
  await clock.advance(199);
  assert.equal(runs[0]?.signal.aborted, false);
  await clock.advance(1);
  assert.ok(runs[0]?.signal.aborted);
  await clock.advance(1000);
  assert.equal(failureOf(sent[0]), 'deadline_exceeded');
});

test('a cancel while kept results are read prevents the run', async () => {
  let runs = 0;
  let found: (end: CallEnd | undefined) => void = () => {};
  const reading = new Promise<CallEnd | undefined>((resolve) => {
    found = resolve;
  });
  const { calls, sent } = runner(() => ++runs, { get: () => reading, set: () => {} });
  const taken = calls.take(call());
  calls.cancel('c1');
  found(undefined);
  await taken;
  assert.equal(runs, 0);
  assert.equal(failureOf(sent[0]), 'cancelled');
});

test('progress is told while the call runs, and not after', async () => {
  const { calls, sent } = runner(async (_, { progress }) => {
    progress(1, 2, 'half');
    progress(2);
    setTimeout(() => progress(3), 0);
  });
  await calls.take(call());
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(sent.slice(0, 2), [
    { type: 'toolProgress', callId: 'c1', progress: 1, total: 2, message: 'half' },
    { type: 'toolProgress', callId: 'c1', progress: 2 },
  ]);
  assert.equal(sent.length, 3);
});

test('a query tells unknown, running and ended apart', async () => {
  const { handler, runs } = pending();
  const { calls, sent } = runner(handler);
  const ask = async () => {
    await calls.query('c1');
    return sent.pop();
  };
  const head = { type: 'callStatus', callId: 'c1' };
  assert.deepEqual(await ask(), { ...head, state: 'unknown' });
  void calls.take(call());
  assert.deepEqual(await ask(), { ...head, state: 'running' });
  await settled();
  runs[0]?.resolve(null);
  await settled();
  sent.pop();
  assert.deepEqual(await ask(), { ...head, state: 'ended', result: null });
});

test('what ends while nobody listens is kept for the query', async () => {
  const { handler, runs } = pending();
  const { calls, sent, cut, restore } = runner(handler);
  void calls.take(call());
  await settled();
  cut();
  runs[0]?.reject(new Error('boom'));
  await settled();
  restore();
  assert.deepEqual(sent, []);
  await calls.query('c1');
  const error = { code: 'TOOL_FAILED', message: 'boom' };
  assert.deepEqual(sent, [{ type: 'callStatus', callId: 'c1', state: 'ended', error }]);
});

test('an end counts as ended while a slow store still writes it', async () => {
  let runs = 0;
  const never = new Promise<void>(() => {});
  const { calls, sent } = runner(() => ++runs, { get: () => undefined, set: () => never });
  void calls.take(call());
  await settled();
  void calls.take(call());
  await calls.query('c1');
  assert.deepEqual(
    sent.map(({ type }) => type),
    ['toolResult', 'toolResult', 'callStatus'],
  );
  assert.equal(runs, 1);
});

test('a kept end of an earlier life is answered without a run', async () => {
  let runs = 0;
  const results = memoryResults();
  results.set('c1', { result: '"from before"' });
  const { calls, sent } = runner(() => ++runs, results);
  await calls.take(call());
  assert.deepEqual(sent, [{ type: 'toolResult', callId: 'c1', result: 'from before' }]);
  assert.equal(runs, 0);
});

test('where kept results cannot be read nothing is run, because it may have been', async () => {
  let runs = 0;
  const broken: ResultStore = { get: () => Promise.reject(new Error('disk')), set: () => {} };
  const { calls, sent, errors } = runner(() => ++runs, broken);
  await calls.take(call());
  assert.equal(failureOf(sent[0]), 'outcome_unknown');
  assert.deepEqual([runs, errors.length], [0, 1]);
});

test('a store that cannot keep is reported and the call answered', async () => {
  const broken: ResultStore = {
    get: () => undefined,
    set: () => Promise.reject(new Error('full')),
  };
  const { calls, sent, errors } = runner(() => 1, broken);
  await calls.take(call());
  assert.deepEqual([sent.length, errors.length], [1, 1]);
});

test('tab work ends with toolResult, discovery with toolsDiscovered', async () => {
  const { calls, sent } = runner((taken) =>
    taken.type === 'discoverTools' ? [{ name: 'search' }] : 7,
  );
  await calls.take({
    type: 'openTab',
    callId: 'o',
    url: 'https://example.com/',
    focus: true,
    deadlineMs: 9,
  });
  await calls.take({ type: 'closeTab', callId: 'x', tabId: 1, deadlineMs: 9 });
  await calls.take({ type: 'focusTab', callId: 'f', tabId: 1, deadlineMs: 9 });
  await calls.take({ type: 'discoverTools', callId: 'd', tabId: 3, deadlineMs: 9 });
  assert.deepEqual(
    sent.map(({ type }) => type),
    ['toolResult', 'toolResult', 'toolResult', 'toolsDiscovered'],
  );
  assert.deepEqual(sent[3], {
    type: 'toolsDiscovered',
    callId: 'd',
    tabId: 3,
    tools: [{ name: 'search' }],
  });
});

test('a discovery that finds no list is an error', async () => {
  const { calls, sent } = runner(() => 'tools');
  await calls.take({ type: 'discoverTools', callId: 'd', deadlineMs: 9 });
  assert.equal(failureOf(sent[0]), 'TOOL_FAILED');
});

test('a peer without a handler says that it knows no tool', async () => {
  const { calls, sent } = runner(undefined);
  await calls.take(call());
  assert.equal(failureOf(sent[0]), 'unknown_tool');
});

test('a close stops all that runs', async () => {
  const { handler, runs } = pending();
  const { calls } = runner(handler);
  void calls.take(call());
  void calls.take(call({ callId: 'c2' }));
  await settled();
  calls.close();
  assert.ok(runs.length === 2 && runs.every(({ signal }) => signal.aborted));
});
