import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from '../../src/driver/page/page';
import { discover, readDeclared, readOutcome } from '../../src/driver/page/page-tools';

test("tools of a page's own world are cut to size here, whatever the page made of it", () => {
  const long = 'x'.repeat(100_000);
  const [tool, ...others] = readDeclared([
    { name: 'a', description: long, inputSchema: long, readOnly: 'yes' },
    { name: 'b' },
    null,
  ]);
  assert.deepEqual(tool, { name: 'a', description: 'x'.repeat(1_000), readOnly: false });
  assert.deepEqual(others, []);
  const schema = { name: 'a', description: '', inputSchema: { type: 'object' }, readOnly: true };
  assert.deepEqual(readDeclared([schema]), [{ name: 'a', description: '', readOnly: true }]);
  const many = Array.from({ length: 1_000 }, (_, n) => ({ name: `t${n}`, description: '' }));
  assert.equal(readDeclared(many).length, 128);
  assert.deepEqual(readDeclared({ length: 1 }), []);
});

test("what a tool of a page's own world came to is one of three things", () => {
  assert.deepEqual(readOutcome({ type: 'done', value: '1' }), { type: 'done', value: '1' });
  assert.deepEqual(readOutcome({ type: 'done', value: {} }), { type: 'done', value: null });
  assert.deepEqual(readOutcome({ type: 'failed' }), { type: 'failed', message: 'undefined' });
  for (const odd of [{ type: 'waiting', ref: 1 }, { type: 'x' }, null, 'done']) {
    assert.deepEqual(readOutcome(odd), { type: 'unknown' });
  }
});

test('a tool in a frame is told with its origin, and cannot keep the page from telling its own', async () => {
  const answer = (frameId: number, origin: string, name: string, inputSchema = '{}') => ({
    frameId,
    documentId: `document ${frameId}`,
    value: {
      isRefused: false,
      origin,
      tools: [{ name, description: '', inputSchema, readOnly: false }],
    },
  });
  const deep = `${'{"not":'.repeat(200)}true${'}'.repeat(200)}`;
  const answers = [
    answer(0, 'https://shop.example', 'buy', '{"title":"[[[\\"[[["}'),
    answer(3, 'https://ads.example', 'advise'),
    answer(4, 'https://ads.example', 'buy'),
    answer(5, 'https://ads.example', 'dig', deep),
    // Its own world, where it may have put anything, is not asked.
    {
      ...answer(6, 'https://ads.example', 'none'),
      value: { isRefused: true, origin: '', tools: [] },
    },
  ];
  // All that is asked of the page here.
  const page = { read: async () => answers } as unknown as Page;
  const told = await discover(page);
  assert.deepEqual(
    told.map(({ name, origin }) => [name, origin]),
    [
      ['buy', undefined],
      ['advise', 'https://ads.example'],
    ],
  );
});
