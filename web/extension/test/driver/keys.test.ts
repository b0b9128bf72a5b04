import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/command';
import {
  keyForCharacter,
  type Modifier,
  modifierBits,
  parseStroke,
} from '../../src/driver/input/keys';

function check(
  text: string,
  expected: { key: string; code: string; keyCode: number; modifiers?: Modifier[]; text?: string },
): void {
  const { key, modifiers } = parseStroke(text);
  const { modifiers: wanted = [], ...fields } = expected;
  const { location: _, ...rest } = key;
  assert.deepEqual(rest, fields, text);
  assert.deepEqual(modifiers, wanted, text);
}

test('keys have the names, codes and key codes of a US keyboard', () => {
  check('Enter', { key: 'Enter', code: 'Enter', keyCode: 13, text: '\r' });
  check('Tab', { key: 'Tab', code: 'Tab', keyCode: 9 });
  check('ArrowDown', { key: 'ArrowDown', code: 'ArrowDown', keyCode: 40 });
  check('F5', { key: 'F5', code: 'F5', keyCode: 116 });
  check('a', { key: 'a', code: 'KeyA', keyCode: 65, text: 'a' });
  check('7', { key: '7', code: 'Digit7', keyCode: 55, text: '7' });
  check(' ', { key: ' ', code: 'Space', keyCode: 32, text: ' ' });
  check(';', { key: ';', code: 'Semicolon', keyCode: 186, text: ';' });
});

test('a capital or a shifted sign is typed with Shift', () => {
  check('A', { key: 'A', code: 'KeyA', keyCode: 65, text: 'A', modifiers: ['shift'] });
  check('?', { key: '?', code: 'Slash', keyCode: 191, text: '?', modifiers: ['shift'] });
});

test('in a shortcut the capital is only a way of writing', () => {
  check('Control+A', { key: 'a', code: 'KeyA', keyCode: 65, text: 'a', modifiers: ['ctrl'] });
  const both: Modifier[] = ['ctrl', 'shift'];
  check('ctrl+shift+a', { key: 'A', code: 'KeyA', keyCode: 65, text: 'A', modifiers: both });
  check('Control++', { key: '+', code: 'Equal', keyCode: 187, text: '+', modifiers: both });
});

test('common other names are understood', () => {
  check('esc', { key: 'Escape', code: 'Escape', keyCode: 27 });
  check('Return', { key: 'Enter', code: 'Enter', keyCode: 13, text: '\r' });
  check('Space', { key: ' ', code: 'Space', keyCode: 32, text: ' ' });
  check('pagedown', { key: 'PageDown', code: 'PageDown', keyCode: 34 });
  check('+', { key: '+', code: 'Equal', keyCode: 187, text: '+', modifiers: ['shift'] });
});

test('modifiers given apart are added', () => {
  assert.deepEqual(parseStroke('a', ['meta']).modifiers, ['meta']);
  assert.equal(modifierBits(['alt', 'ctrl', 'meta', 'shift']), 15);
});

test('an unknown key or modifier is refused', () => {
  for (const text of ['Foo', 'Hyper+A', '', 'ü']) {
    assert.throws(() => parseStroke(text), CommandError, text);
  }
});

test('characters find their key, and those without one find none', () => {
  assert.deepEqual(keyForCharacter('B')?.modifiers, ['shift']);
  assert.equal(keyForCharacter('\n')?.key.key, 'Enter');
  assert.equal(keyForCharacter('é'), undefined);
  assert.equal(keyForCharacter('日'), undefined);
});
