import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunningCalls } from '../../src/background/running-calls';
import { CommandError } from '../../src/command';

const STOPPED = new CommandError('STOPPED_BY_USER', 'stopped');
const quiet = () => new AbortController().signal;

test('a call that is ended answers with the reason, though its work never does', async () => {
  const calls = new RunningCalls();
  let heard: AbortSignal | undefined;
  const call = calls.run(1, quiet(), (signal) => {
    heard = signal;
    return new Promise(() => {});
  });
  calls.endAll(STOPPED);
  await assert.rejects(call, (error) => error === STOPPED);
  assert.equal(heard?.aborted, true);
});

test('the reason is what the user did, not what the work makes of the abort', async () => {
  const calls = new RunningCalls();
  const call = calls.run(1, quiet(), (signal) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  });
  calls.endIn(1, STOPPED);
  await assert.rejects(call, (error) => error === STOPPED);
});

test('only the calls of the tab are ended, and none that has ended already', async () => {
  const calls = new RunningCalls();
  let finish: (value: string) => void = () => {};
  const other = calls.run(2, quiet(), () => new Promise<string>((done) => (finish = done)));
  const nowhere = calls.run(undefined, quiet(), async () => 'done');
  assert.equal(await nowhere, 'done');
  let isAborted = false;
  const over = calls.run(1, quiet(), async (signal) => {
    signal.addEventListener('abort', () => {
      isAborted = true;
    });
    return 'over';
  });
  assert.equal(await over, 'over');
  calls.endIn(1, STOPPED);
  assert.equal(isAborted, false);
  finish('still there');
  assert.equal(await other, 'still there');
});

test('work that throws at once is no call that runs', async () => {
  const calls = new RunningCalls();
  const call = calls.run(1, quiet(), () => {
    throw new Error('bad');
  });
  await assert.rejects(call, /bad/);
  calls.endAll(STOPPED);
});

test('a call that the hub withdraws hears of it', async () => {
  const calls = new RunningCalls();
  const outer = new AbortController();
  const call = calls.run(1, outer.signal, (signal) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });
  outer.abort(new Error('withdrawn'));
  await assert.rejects(call, /withdrawn/);
});
