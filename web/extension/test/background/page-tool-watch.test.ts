/** Which tools of pages are told, and when. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToolSpec } from '@tabwire/shared';
import { PageToolWatch } from '../../src/background/page-tool-watch';

function stage(isDriven = true) {
  const told: string[] = [];
  const page: { tools: ToolSpec[] | undefined; asked: number } = { tools: [], asked: 0 };
  const watch = new PageToolWatch({
    isDriven: () => isDriven,
    discover: async () => {
      page.asked++;
      return page.tools;
    },
    tell: (tools, tabId) => told.push(`${tabId}: ${tools.map(({ name }) => name).join(' ')}`),
  });
  return { watch, page, told };
}

/** Lets the time of gathering pass. */
const gathered = () => new Promise((resolve) => setTimeout(resolve, 80));

test('tools are told once, in one go, and their end with the document', async () => {
  const { watch, page, told } = stage();
  page.tools = [{ name: 'a' }, { name: 'b' }];
  watch.changed(7);
  watch.changed(7);
  await gathered();
  watch.changed(7);
  await gathered();
  assert.deepEqual(told, ['7: a b']);
  assert.equal(page.asked, 2);
  watch.left(7);
  watch.left(7);
  assert.deepEqual(told, ['7: a b', '7: ']);
});

/** A page that says what it has when the test lets it. */
function slowStage() {
  const told: string[] = [];
  const answers: Array<(tools: ToolSpec[]) => void> = [];
  const watch = new PageToolWatch({
    isDriven: () => true,
    discover: () => new Promise((resolve) => answers.push(resolve)),
    tell: (tools) => told.push(tools.map(({ name }) => name).join(' ')),
  });
  return { watch, told, answers };
}

test('what is found in a document that was left meanwhile is not told', async () => {
  const { watch, told, answers } = slowStage();
  watch.changed(7);
  await gathered();
  watch.left(7);
  watch.changed(7);
  await gathered();
  answers[1]?.([{ name: 'new' }]);
  await gathered();
  answers[0]?.([{ name: 'old' }]);
  await gathered();
  assert.deepEqual(told, ['new']);
});

test('a document that is ready before it is told to be there has its tools told', async () => {
  const { watch, told, answers } = slowStage();
  watch.changed(7);
  await gathered();
  watch.left(7);
  await gathered();
  assert.equal(answers.length, 2, 'it is looked at again');
  answers[1]?.([{ name: 'new' }]);
  await gathered();
  assert.deepEqual(told, ['new']);
});

test('a page that cannot be seen just now is looked at again', async () => {
  const { watch, page, told } = stage();
  page.tools = undefined;
  watch.changed(7);
  await gathered();
  assert.deepEqual([page.asked, told], [1, []]);
  page.tools = [{ name: 'a' }];
  while (told.length === 0) await gathered();
  assert.deepEqual([page.asked, told], [2, ['7: a']]);
});

test('a page without tools, or that nobody drives, says nothing', async () => {
  const quiet = stage();
  quiet.watch.changed(7);
  await gathered();
  quiet.watch.left(7);
  assert.deepEqual(quiet.told, []);
  const free = stage(false);
  free.watch.changed(7);
  await gathered();
  assert.equal(free.page.asked, 0);
});
