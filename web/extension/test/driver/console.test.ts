import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeException, readCall } from '../../src/driver/reading/console';

test('console calls are written in one line, with their place', () => {
  const entry = readCall({
    type: 'warning',
    executionContextId: 1,
    timestamp: 5,
    args: [
      { type: 'string', value: 'a' },
      { type: 'number', value: 1 },
      { type: 'number', unserializableValue: 'NaN' },
      {
        type: 'object',
        description: 'Object',
        preview: {
          type: 'object',
          overflow: false,
          properties: [{ name: 'x', type: 'number', value: '1' }],
        },
      },
    ],
    stackTrace: {
      callFrames: [
        {
          functionName: 'f',
          scriptId: '1',
          url: 'https://a.test/a.js',
          lineNumber: 4,
          columnNumber: 0,
        },
      ],
    },
  });
  assert.deepEqual(entry, {
    level: 'warning',
    text: 'a 1 NaN Object {x: 1}',
    url: 'https://a.test/a.js',
    line: 5,
    timestamp: 5,
  });
});

test('exceptions say what was thrown', () => {
  const error = {
    type: 'object',
    subtype: 'error',
    description: 'Error: boom\n    at a.js:1',
  } as const;
  assert.equal(describeException({ text: 'Uncaught', exception: error }), error.description);
  const thrown = { type: 'number', value: 5, description: '5' } as const;
  assert.equal(describeException({ text: 'Uncaught', exception: thrown }), 'Uncaught 5');
});
