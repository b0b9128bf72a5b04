/**
 * The checker: what it finds, and how it says so.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFault } from '../src/arguments';
import type { Schema } from '../src/options';

const schema: Schema = {
  type: 'object',
  properties: {
    text: { type: 'string', pattern: '^[a-z]+$' },
    count: { type: 'integer', minimum: 1, maximum: 5 },
    size: { type: ['number', 'null'] },
    side: { enum: ['left', 'right', 3] },
    tags: { type: 'array', items: { type: 'string' } },
    at: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
    free: {},
  },
  required: ['text'],
  additionalProperties: false,
};

const good = [
  { text: 'abc' },
  { text: 'abc', count: 1, size: null, side: 'left', tags: ['a'], at: { x: 1, y: 2 } },
  { text: 'a', count: 5, size: 1.5, side: 3, tags: [], free: [1, { a: 2 }] },
];

const bad: [args: unknown, fault: string][] = [
  [undefined, 'the arguments must be object, not nothing'],
  [{}, 'text is missing'],
  [{ text: 3 }, 'text must be string, not 3'],
  [{ text: 'A1' }, 'text must match ^[a-z]+$, not "A1"'],
  [{ text: 'a', count: 0 }, 'count must be at least 1, not 0'],
  [{ text: 'a', count: 6 }, 'count must be at most 5, not 6'],
  [{ text: 'a', count: 1.5 }, 'count must be integer, not 1.5'],
  [{ text: 'a', size: '1' }, 'size must be number or null, not "1"'],
  [{ text: 'a', side: 'up' }, 'side must be one of "left", "right", 3, not "up"'],
  [{ text: 'a', tags: 'b' }, 'tags must be array, not "b"'],
  [{ text: 'a', tags: ['b', 2] }, 'tags[1] must be string, not 2'],
  [{ text: 'a', at: {} }, 'at.x is missing'],
  [{ text: 'a', at: { x: 'b' } }, 'at.x must be number, not "b"'],
  [
    { text: 'a', toString: 1 },
    'toString is not known; valid are text, count, size, side, tags, at, free',
  ],
];

test('what fits passes', () => {
  for (const args of good) assert.equal(findFault(schema, args), undefined, JSON.stringify(args));
});

test('what does not fit is named, with what would', () => {
  for (const [args, fault] of bad) assert.equal(findFault(schema, args), fault);
});

test('long values are shortened, and keywords that are not known are let through', () => {
  const fault = findFault({ type: 'number' }, 'x'.repeat(5000));
  assert.ok(fault !== undefined && fault.length < 120, fault);
  assert.equal(findFault({ type: 'string', format: 'email' }, 'x'), undefined);
});
