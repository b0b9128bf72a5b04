/** What a document declares, as its isolated world sees it. */

import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import { PageTools } from '../../src/content/page-tools';
import type { Refs } from '../../src/content/refs';

/** A document whose browser answers when the test lets it. */
function stage(context: TestContext, isFrame: boolean) {
  const answers: Array<(tools: unknown[]) => void> = [];
  const news: unknown[] = [];
  const modelContext = Object.assign(new EventTarget(), {
    getTools: () => new Promise((resolve) => answers.push(resolve)),
    executeTool: () => Promise.resolve(null),
  });
  const top = {};
  const sendMessage = async (message: unknown) => news.push(message);
  const fakes = {
    document: { modelContext },
    window: isFrame ? { top } : Object.assign(top, { top }),
    chrome: { runtime: { id: 'extension', sendMessage } },
  };
  const before = Object.keys(fakes).map((name) => [name, Reflect.get(globalThis, name)] as const);
  Object.assign(globalThis, fakes);
  mock.timers.enable({ apis: ['setTimeout'] });
  context.after(() => {
    Object.assign(globalThis, Object.fromEntries(before));
    mock.timers.reset();
  });
  // Nothing here needs a reference.
  return { tools: new PageTools({} as Refs), answers, news };
}

/** Lets everything happen that waits for no timer. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a frame about which the browser says nothing holds up the list once, and no longer', async (context) => {
  const { tools, answers, news } = stage(context, true);
  const first = tools.list();
  mock.timers.tick(1_000);
  assert.deepEqual(await first, { isRefused: true, origin: undefined, tools: [] });
  assert.equal((await tools.list()).isRefused, true, 'at once');
  assert.equal(answers.length, 1, 'it is not asked again');

  answers[0]?.([{ name: 'late' }]);
  await settled();
  assert.deepEqual(news, [{ type: 'toolsChanged' }], 'a late answer is news');
  const again = tools.list();
  answers[1]?.([{ name: 'late' }]);
  assert.deepEqual(
    (await again).tools.map(({ name }) => name),
    ['late'],
  );
});

test('a page is waited for', async (context) => {
  const { tools, answers } = stage(context, false);
  const listed = tools.list();
  mock.timers.tick(60_000);
  answers[0]?.([{ name: 'buy' }]);
  const { isRefused, tools: found } = await listed;
  assert.deepEqual([isRefused, found.map(({ name }) => name)], [false, ['buy']]);
});
