/**
 * The incoming side: order, duplicates, gaps, pages, and hubs that break the rules.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProtocolError } from '../src/check';
import type { Event, ReplayPage, Welcome } from '../src/generated/protocol';
import { Receiver } from '../src/receiver';
import { welcome } from './support/fake-socket';

/** A receiver whose doings are written down. */
function recorded(sequence?: number) {
  const log: string[] = [];
  const receiver = new Receiver(
    {
      deliver: (event) => log.push(`${event.sequence}`),
      ask: (from) => log.push(`ask ${from.epoch}/${from.sequence}`),
      resync: (reason) => log.push(`resync ${reason}`),
    },
    sequence === undefined ? undefined : { epoch: 'hub', sequence },
  );
  const take = () => log.splice(0);
  return { receiver, take };
}

function event(sequence: number): Event & { type: 'event' } {
  return { type: 'event', sequence, name: 'x', level: 'info', data: null };
}

function greeting(over: Partial<Welcome> = {}): Welcome {
  const message = welcome(over);
  assert.ok(message.type === 'welcome');
  return message;
}

function page(numbers: number[], over: Partial<ReplayPage> = {}): ReplayPage {
  const messages = numbers.map(event);
  return {
    epoch: 'hub',
    upto: numbers.at(-1) ?? 0,
    recovered: true,
    messages,
    more: false,
    ...over,
  };
}

test('events are delivered in order, duplicates dropped', () => {
  const { receiver, take } = recorded();
  receiver.welcome(greeting());
  for (const sequence of [1, 2, 2, 1, 3, 0]) receiver.event(event(sequence));
  assert.deepEqual(take(), ['1', '2', '3']);
  assert.deepEqual(receiver.position, { epoch: 'hub', sequence: 3 });
});

test('a gap is asked about once, and nothing beyond it delivered', () => {
  const { receiver, take } = recorded();
  receiver.welcome(greeting());
  for (const sequence of [1, 4, 5, 6]) receiver.event(event(sequence));
  assert.deepEqual(take(), ['1', 'ask hub/1']);
  receiver.page(page([2, 3, 4, 5, 6]));
  assert.deepEqual(take(), ['2', '3', '4', '5', '6']);
  receiver.event(event(8));
  assert.deepEqual(take(), ['ask hub/6'], 'the next gap is asked about again');
});

test('pages are followed to the end', () => {
  const { receiver, take } = recorded(0);
  receiver.welcome(greeting({ currentSequence: 5, replay: [1, 2].map(event), more: true }));
  assert.deepEqual(take(), ['1', '2', 'ask hub/2']);
  receiver.page(page([3, 4], { more: true }));
  assert.deepEqual(take(), ['3', '4', 'ask hub/4']);
  receiver.page(page([5]));
  assert.deepEqual(take(), ['5']);
  assert.equal(receiver.asking, false);
});

test('pages that overlap with what was seen add only what is new', () => {
  const { receiver, take } = recorded(3);
  receiver.welcome(greeting({ currentSequence: 3 }));
  receiver.event(event(6));
  take();
  receiver.page(page([2, 3, 4, 5, 6]));
  assert.deepEqual(take(), ['4', '5', '6']);
});

test('a first welcome begins where the hub begins', () => {
  const cases: [Partial<Welcome>, number, string[]][] = [
    [{ currentSequence: 42 }, 42, []],
    [{ currentSequence: 42, replay: [event(41), event(42)] }, 42, ['41', '42']],
    [{ currentSequence: 42, more: true }, 0, ['ask hub/0']],
    [{ currentSequence: 42, recovered: false, reason: 'gap' }, 42, []],
  ];
  for (const [over, sequence, expected] of cases) {
    const { receiver, take } = recorded();
    receiver.welcome(greeting(over));
    assert.deepEqual(take(), expected);
    assert.deepEqual(receiver.position, { epoch: 'hub', sequence });
  }
});

test('a welcome that could not recover moves the position and tells why', () => {
  const { receiver, take } = recorded(7);
  const over = {
    epoch: 'new',
    currentSequence: 3,
    recovered: false,
    reason: 'epoch_changed',
  } as const;
  receiver.welcome(greeting(over));
  assert.deepEqual(take(), ['resync epoch_changed']);
  receiver.event(event(4));
  assert.deepEqual(take(), ['4']);
});

test('a hub that claims to recover from another log, or from beyond its own, is not believed', () => {
  const { receiver, take } = recorded(7);
  receiver.welcome(greeting({ epoch: 'new', currentSequence: 9 }));
  assert.deepEqual(take(), ['resync epoch_changed']);
  receiver.welcome(greeting({ epoch: 'new', currentSequence: 2 }));
  assert.deepEqual(take(), ['resync future_sequence']);
  assert.deepEqual(receiver.position, { epoch: 'new', sequence: 2 });
});

test('a welcome whose replay stops short is a gap', () => {
  const { receiver, take } = recorded(0);
  receiver.welcome(greeting({ currentSequence: 3, replay: [event(1)] }));
  assert.deepEqual(take(), ['1', 'ask hub/1']);
});

test('a page that says it is lost moves the position and tells why', () => {
  const { receiver, take } = recorded(1);
  receiver.welcome(greeting({ currentSequence: 1 }));
  receiver.event(event(500));
  take();
  receiver.page(page([], { upto: 900, recovered: false, reason: 'gap' }));
  assert.deepEqual(take(), ['resync gap']);
  receiver.event(event(901));
  assert.deepEqual(take(), ['901']);
});

test('a question dies with its connection and is asked anew on the next', () => {
  const { receiver, take } = recorded(1);
  receiver.welcome(greeting({ currentSequence: 1 }));
  receiver.event(event(9));
  assert.deepEqual(take(), ['ask hub/1']);
  receiver.welcome(greeting({ currentSequence: 9, replay: [event(2)], more: true }));
  assert.deepEqual(take(), ['2', 'ask hub/2']);
});

test('selections move nothing', () => {
  const { receiver, take } = recorded(1);
  receiver.welcome(greeting({ currentSequence: 1 }));
  receiver.page(page([5, 6], { partial: true }));
  assert.deepEqual(take(), []);
});

test('pages that break the rules are refused', () => {
  const broken: [string, ReplayPage][] = [
    ['a hole in it', page([5, 7])],
    ['a hole before it', page([6, 7])],
    ['another log', page([5], { epoch: 'other' })],
    ['short of its end', page([5], { upto: 9 })],
    ['leads nowhere', page([], { upto: 4, more: true })],
    ['no events', page([], { upto: 4, messages: [{ type: 'ping' }] })],
  ];
  for (const [what, bad] of broken) {
    const { receiver } = recorded(4);
    receiver.welcome(greeting({ currentSequence: 4 }));
    assert.throws(() => receiver.page(bad), ProtocolError, what);
  }
});
