import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RunningCalls } from '../../src/background/running-calls';
import { StopSwitch } from '../../src/background/stop';
import { CommandError } from '../../src/command';
import { FakeChrome } from '../support/fake-chrome';

function start() {
  const running = new RunningCalls();
  const stop = new StopSwitch({
    endAll: (reason) => running.endAll(reason),
    detachAll: async () => {},
    changed: () => {},
  });
  return { running, stop };
}

const never = () => new Promise<never>(() => {});
const outer = new AbortController().signal;

test('stop ends what runs, whether or not it notices', async () => {
  new FakeChrome().install();
  const { running, stop } = start();
  let inner: AbortSignal | undefined;
  const deaf = running.run(7, outer, never);
  const hears = running.run(8, outer, (signal) => {
    inner = signal;
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  });
  await Promise.all([
    stop.stop(),
    assert.rejects(deaf, { code: 'STOPPED_BY_USER' }),
    assert.rejects(hears, { code: 'STOPPED_BY_USER' }),
  ]);
  assert.equal(inner?.aborted, true);
  assert.throws(() => stop.check(), { code: 'STOPPED_BY_USER' });
});

test('stop outlives the worker, and resume ends it', async () => {
  new FakeChrome().install();
  await start().stop.stop();
  const { stop } = start();
  await stop.load();
  assert.equal(stop.isStopped, true);
  await stop.resume();
  stop.check();
  const next = start().stop;
  await next.load();
  assert.equal(next.isStopped, false);
});

test('only the calls in one tab are ended', async () => {
  const { running } = start();
  const ended = running.run(7, outer, never);
  const other = running.run(
    8,
    outer,
    () => new Promise((resolve) => setTimeout(resolve, 5, 'done')),
  );
  running.endIn(7, new CommandError('STOPPED_BY_USER', 'taken back'));
  await assert.rejects(ended, { message: 'taken back' });
  assert.equal(await other, 'done');
});
