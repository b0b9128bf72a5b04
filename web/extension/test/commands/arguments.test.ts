import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Arguments,
  boolean,
  CommandError,
  integer,
  number,
  oneOf,
  optional,
  RawJson,
  readArguments,
  string,
  stringList,
} from '../../src/command';

const KNOWN = {
  url: string(),
  count: optional(integer({ least: 1, most: 3 }), 1),
  button: optional(oneOf('left', 'right'), 'left'),
  force: optional(boolean()),
  x: optional(number()),
  files: optional(stringList()),
} as const;

function refused(args: unknown, message: RegExp, known: Arguments = KNOWN): void {
  assert.throws(
    () => readArguments('do_it', known, args),
    (error) =>
      error instanceof CommandError &&
      error.code === 'INVALID_ARGUMENT' &&
      message.test(error.message),
    JSON.stringify(args),
  );
}

test('what is right passes, and what is left out gets its fallback', () => {
  const values = readArguments('do_it', KNOWN, { url: 'a', x: 1.5, files: ['b'] });
  assert.deepEqual(values, {
    url: 'a',
    count: 1,
    button: 'left',
    force: undefined,
    x: 1.5,
    files: ['b'],
  });
});

test('null counts as left out', () => {
  assert.equal(readArguments('do_it', KNOWN, { url: 'a', count: null }).count, 1);
  refused({ url: null }, /url is missing; it must be a string/);
});

test('an unknown argument is refused by name, with those there are', () => {
  refused({ url: 'a', uri: 'b' }, /do_it has no argument uri; it takes url, count, button/);
  refused({ uri: 'b' }, /it takes none/, {});
});

test('a wrong argument is told what would be right', () => {
  refused({}, /url is missing; it must be a string/);
  refused({ url: 5 }, /url must be a string, not 5/);
  refused({ url: 'a', count: 4 }, /count must be a whole number from 1 to 3, not 4/);
  refused({ url: 'a', count: 1.5 }, /count must be a whole number/);
  refused({ url: 'a', button: 'up' }, /button must be one of left, right, not "up"/);
  refused({ url: 'a', force: 'yes' }, /force must be true or false/);
  refused({ url: 'a', x: '1' }, /x must be a number/);
  refused({ url: 'a', files: ['a', 1] }, /files must be a list of strings/);
  refused([1], /arguments must be an object/);
});

test('no arguments at all are an empty object', () => {
  assert.deepEqual(readArguments('do_it', {}, undefined), {});
});

test('raw JSON reads the same to whoever does not know it', () => {
  assert.equal(JSON.stringify(new RawJson('{"a":[1]}')), '{"a":[1]}');
});
