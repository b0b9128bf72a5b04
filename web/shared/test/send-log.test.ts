/**
 * The outgoing log: numbers, limits, acks, resumption, pages and honest gaps.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asEvent } from '../src/check';
import type { Event } from '../src/generated/protocol';
import { type LogLimits, SendLog } from '../src/send-log';
import { isRecord } from '../src/values';

let now = 0;

function filled(count: number, limits: Partial<LogLimits> = {}): SendLog {
  now = 0;
  const all = { maxMessages: 1000, maxBytes: 8 << 20, maxAgeMs: 900_000, ...limits };
  const log = new SendLog('me', () => now, all);
  for (let at = 0; at < count; at++) log.append({ type: 'event', name: `n${at + 1}` });
  return log;
}

function at(sequence: number, epoch = 'me') {
  return { epoch, sequence };
}

/** Takes everything and shows it in short: numbers, and gaps as `gap:<reason>@<upto>`. */
function drain(log: SendLog): (number | string)[] {
  const taken: (number | string)[] = [];
  for (let next = log.take(); next !== undefined; next = log.take()) {
    const message: unknown = JSON.parse(next.frame);
    assert.ok(isRecord(message));
    if (next.gap === undefined) taken.push(Number(message.sequence));
    else {
      assert.deepEqual(
        [message.type, message.recovered, message.messages],
        ['replayPage', false, []],
      );
      taken.push(`gap:${message.reason}@${message.upto}`);
    }
  }
  return taken;
}

function pageOf(frame: string | undefined) {
  assert.ok(frame !== undefined);
  const page: unknown = JSON.parse(frame);
  assert.ok(isRecord(page) && Array.isArray(page.messages));
  const numbers = page.messages.map(
    (message: unknown): Event['sequence'] => asEvent(message).sequence,
  );
  return { ...page, numbers };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

test('messages are numbered from one without holes and taken once', () => {
  const log = filled(5);
  assert.deepEqual(drain(log), [1, 2, 3, 4, 5]);
  assert.deepEqual(drain(log), []);
  log.append({ type: 'tabClosed', tabId: 3 });
  assert.deepEqual(drain(log), [6]);
});

test('a message that no hub takes throws and uses up no number', () => {
  const log = filled(1);
  assert.throws(() => log.append({ type: 'event', name: 'big', data: 'x'.repeat(5 << 20) }));
  log.append({ type: 'event', name: 'next' });
  assert.deepEqual(drain(log), [1, 2]);
});

test('a payload that is JSON already is spliced in', () => {
  const log = filled(0);
  const head = { type: 'stateUpdate', stateEpoch: 'p', version: 1 } as const;
  log.append(head, { field: 'state', json: '{"a":1}' });
  assert.deepEqual(JSON.parse(log.take()?.frame ?? ''), { ...head, sequence: 1, state: { a: 1 } });
});

test('after a reconnect all that follows what the hub has seen is taken again', () => {
  const log = filled(5);
  drain(log);
  log.resume(at(2));
  assert.deepEqual(drain(log), [3, 4, 5]);
  log.resume(at(5));
  assert.deepEqual(drain(log), []);
  log.resume(at(0));
  assert.deepEqual(drain(log), [1, 2, 3, 4, 5]);
});

test('a hub that has seen nothing yet gets everything, whatever log it names', () => {
  const log = filled(3);
  log.resume(at(0, 'another'));
  assert.deepEqual(drain(log), [1, 2, 3]);
});

test('a hub in another log, or beyond ours, hears so before anything else', () => {
  const log = filled(3);
  log.resume(at(57, 'another'));
  assert.deepEqual(drain(log), ['gap:epoch_changed@0', 1, 2, 3]);
  log.resume(at(4));
  assert.deepEqual(drain(log), ['gap:future_sequence@3']);
});

test('too many messages: the oldest go, and a hub that misses them is told', () => {
  const log = filled(1005);
  assert.deepEqual(drain(log), ['gap:gap@5', ...range(6, 1005)]);
  log.resume(at(4));
  assert.deepEqual(drain(log)[0], 'gap:gap@5');
  log.resume(at(5));
  assert.deepEqual(drain(log)[0], 6);
});

test('messages dropped while the connection was slow are announced in between', () => {
  const log = filled(0, { maxMessages: 3 });
  log.append({ type: 'event', name: 'a' });
  assert.deepEqual(drain(log), [1]);
  for (let more = 0; more < 5; more++) log.append({ type: 'event', name: 'b' });
  assert.deepEqual(drain(log), ['gap:gap@3', 4, 5, 6]);
});

test('too many bytes count too', () => {
  const log = filled(0, { maxBytes: 1000 });
  for (let count = 0; count < 10; count++) log.append({ type: 'event', name: 'n'.repeat(250) });
  assert.deepEqual(drain(log), ['gap:gap@7', 8, 9, 10]);
});

test('old messages expire, with that as the reason', () => {
  const log = filled(3, { maxAgeMs: 1000 });
  now = 900;
  log.append({ type: 'event', name: 'young' });
  now = 1500;
  assert.deepEqual(drain(log), ['gap:expired@3', 4]);
});

test('acked messages are forgotten', () => {
  const log = filled(5);
  drain(log);
  log.ack(at(3));
  log.resume(at(3));
  assert.deepEqual(drain(log), [4, 5]);
  log.resume(at(1));
  assert.deepEqual(drain(log), ['gap:gap@3', 4, 5]);
});

test('acks of another log, or of what was never written, change nothing', () => {
  const log = filled(5);
  log.ack(at(5));
  assert.deepEqual(drain(log), [1, 2, 3, 4, 5]);
  log.ack(at(5, 'another'));
  log.ack(at(6));
  log.resume(at(0));
  assert.deepEqual(drain(log), [1, 2, 3, 4, 5]);
});

test('a hub that lost everything hears of the gap and goes on with new numbers', () => {
  const log = filled(5);
  drain(log);
  log.ack(at(5));
  log.resume(at(0));
  log.append({ type: 'event', name: 'new' });
  assert.deepEqual(drain(log), ['gap:gap@5', 6]);
});

test('a request is answered in pages of a hundred, oldest first', () => {
  const log = filled(250);
  drain(log);
  const first = pageOf(log.answer({ from: at(3) }));
  assert.deepEqual(first.numbers, range(4, 103));
  assert.deepEqual(
    { ...first, messages: 0, numbers: 0 },
    {
      type: 'replayPage',
      epoch: 'me',
      upto: 103,
      recovered: true,
      more: true,
      messages: 0,
      numbers: 0,
    },
  );
  const last = pageOf(log.answer({ from: at(203) }));
  assert.deepEqual([last.numbers.at(-1), last.numbers.length], [250, 47]);
  const none = pageOf(log.answer({ from: at(250) }));
  assert.deepEqual(none.numbers, []);
});

test('what a page has brought is not taken once more', () => {
  const log = filled(4);
  log.answer({ from: at(0) });
  assert.deepEqual(drain(log), []);
});

test('a request that cannot be met is answered with a gap and all that is kept', () => {
  const log = filled(1005);
  drain(log);
  assert.equal(log.answer({ from: at(2) }), undefined);
  assert.deepEqual(drain(log), ['gap:gap@5', ...range(6, 1005)]);
  assert.equal(log.answer({ from: at(9, 'another') }), undefined);
  assert.equal(drain(log)[0], 'gap:epoch_changed@5');
  assert.equal(log.answer({ from: at(2000) }), undefined);
  assert.deepEqual(drain(log), ['gap:future_sequence@1005']);
});

test('selections are partial, by type or name, and can have errors first', () => {
  const log = filled(0);
  log.append({ type: 'event', name: 'console' });
  log.append({ type: 'event', name: 'network', level: 'error' });
  log.append({ type: 'event', name: 'console', level: 'error' });
  log.append({ type: 'event', name: 'dialog', level: 'warning' });
  const cases: [object, number[], number][] = [
    [{ types: ['console'] }, [1, 3], 3],
    [{ types: ['event'] }, [1, 2, 3, 4], 4],
    [{ types: ['tabClosed'] }, [], 0],
    [{ errorsFirst: true }, [2, 3, 1, 4], 0],
    [{ types: ['console'], errorsFirst: true }, [3, 1], 0],
  ];
  for (const [selection, numbers, upto] of cases) {
    const page = pageOf(log.answer({ from: at(0), ...selection }));
    assert.deepEqual(page.numbers, numbers);
    assert.equal('partial' in page && page.partial, true);
    assert.equal('upto' in page && page.upto, upto);
  }
  assert.deepEqual(drain(log), [1, 2, 3, 4], 'a selection moves nothing');
});

test('a selection from a place that is gone says so and moves nothing', () => {
  const log = filled(1005);
  const page = pageOf(log.answer({ from: at(1), types: ['event'] }));
  assert.deepEqual(
    { ...page, messages: 0, numbers: 0 },
    {
      type: 'replayPage',
      epoch: 'me',
      upto: 5,
      recovered: false,
      reason: 'gap',
      more: false,
      partial: true,
      messages: 0,
      numbers: 0,
    },
  );
});

test('a page is limited in bytes, but holds at least one message', () => {
  const log = filled(0, { maxBytes: 64 << 20 });
  for (let count = 0; count < 4; count++) {
    log.append({ type: 'event', name: 'big', data: 'x'.repeat(3 << 20) });
  }
  const page = pageOf(log.answer({ from: at(0) }));
  assert.deepEqual(page.numbers, [1]);
});
