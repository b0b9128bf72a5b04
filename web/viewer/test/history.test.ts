import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begin, HISTORY_STEPS, type History, record, redo, undo } from '../src/history';
import { INITIAL_STATE } from '../src/state';
import { Store } from '../src/store';

test('steps are undone and redone in order', () => {
  const there = ['b', 'c', 'd'].reduce((history, step) => record(history, step), begin('a'));
  assert.equal(undo(there).present, 'c');
  assert.equal(undo(there, 3).present, 'a');
  assert.equal(redo(undo(there)).present, 'd');
  assert.equal(redo(undo(there, 3)).present, 'b');
  assert.deepEqual(undo(there, 3).future, ['b', 'c', 'd']);
});

test('at the ends nothing happens', () => {
  assert.equal(undo(begin('a'), 5).present, 'a');
  assert.equal(redo(begin('a')).present, 'a');
  assert.equal(undo(record(begin('a'), 'b'), 99).present, 'a');
});

test('the steps of one gesture are one, and another gesture is another', () => {
  let history: History<string> = begin('a');
  for (const step of ['b', 'c', 'd']) history = record(history, step, 'drag 1');
  history = record(history, 'e', 'drag 2');
  assert.equal(undo(history).present, 'd');
  assert.equal(undo(history, 2).present, 'a');
});

test('a gesture does not go on after an undo or a step without one', () => {
  const undone = undo(record(record(begin('a'), 'b'), 'c', 'drag 1'));
  assert.equal(undo(record(undone, 'd', 'drag 1')).present, 'b');
  const interrupted = record(record(begin('a'), 'b', 'drag 1'), 'c');
  assert.equal(undo(record(interrupted, 'd', 'drag 1')).present, 'c');
});

test('a new step forgets what was undone, and the same state is no step', () => {
  const history = record(undo(record(begin('a'), 'b')), 'c');
  assert.deepEqual(history.future, []);
  assert.equal(record(history, 'c'), history);
});

test('only so many steps are kept', () => {
  let history: History<number> = begin(0);
  for (let step = 1; step <= HISTORY_STEPS + 20; step += 1) history = record(history, step);
  assert.equal(history.past.length, HISTORY_STEPS);
  assert.equal(undo(history, 1000).present, 20);
});

test('the store tells its listeners of changes, undo and redo, and only of those', () => {
  const store = new Store(INITIAL_STATE);
  const heard: string[] = [];
  const end = store.subscribe((state, origin) => heard.push(`${origin} ${state.model.color}`));
  store.change({ type: 'color', color: '#111111' }, 'hand');
  store.change({ type: 'color', color: '#111111' }, 'client');
  store.change({ type: 'color', color: '#222222' }, 'client');
  assert.equal(store.undo(5, 'client'), 2);
  assert.equal(store.redo('hand'), 1);
  end();
  store.change({ type: 'color', color: '#333333' }, 'hand');
  assert.deepEqual(heard, [
    'hand #111111',
    'client #222222',
    `client ${INITIAL_STATE.model.color}`,
    'hand #111111',
  ]);
  assert.deepEqual(store.steps, { undo: 2, redo: 0 });
});
