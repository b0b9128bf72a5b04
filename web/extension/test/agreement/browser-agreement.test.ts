/**
 * Our walker against Chrome's own accessibility tree, in a real browser, on two sets of pages.
 *
 * Prints what differs. `AGREEMENT_SET=tuned` leaves the held-out pages alone: for those who correct
 * the walker, so that they do not learn what it gets wrong there.
 */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Browser } from './browser';
import { type ChromeTree, readChromes } from './chrome-tree';
import { type Pair, pair } from './compare';
import {
  CONSTRUCTS,
  FOLDER,
  frozenHashes,
  heldOutHashes,
  type PageSet,
  pagesOf,
  SETS,
  sourceOf,
} from './corpus';
import { PageServer } from './page-server';
import { emptyResult, judge, type Result, write } from './report';
import { readOurs } from './walker-tree';

/** At least so many elements in a hundred have the same role and name. */
const NODES_PERCENT = 98;
/** At least so many states in a hundred are the same. */
const STATES_PERCENT = 98;
/** At most so many differ on purpose, in one set. */
const NODES_ON_PURPOSE = 30;
const STATES_ON_PURPOSE = 50;
const FRAMES_WITHIN_MS = 30_000;

const wantedSets = SETS.filter((set) => (process.env.AGREEMENT_SET ?? set) === set);

const server = await PageServer.start(FOLDER);
const browser = await Browser.start().catch((error: unknown) => {
  server.close();
  throw error;
});

after(async () => {
  server.close();
  await browser.close();
});

test('held-out pages are as they were frozen', () => {
  assert.equal(heldOutHashes(), frozenHashes());
});

test('half of at least twenty pages are held out', () => {
  const [tuned, heldOut] = SETS.map((set) => pagesOf(set).length);
  assert.ok(Number(heldOut) >= 10 && Number(heldOut) >= Number(tuned), `${heldOut} and ${tuned}`);
});

for (const set of SETS) {
  test(`${set} pages contain every construct`, () => {
    const source = sourceOf(set);
    const missing = [...CONSTRUCTS].filter(([, sign]) => !sign.test(source));
    assert.deepEqual(
      missing.map(([construct]) => construct),
      [],
    );
  });
}

for (const set of wantedSets) {
  test(`${set} pages are told as Chrome tells them`, async () => {
    const { nodes, states } = await measure(set);
    assert.ok(nodes.percent >= NODES_PERCENT, `role and name: ${nodes}`);
    assert.ok(nodes.differences <= NODES_ON_PURPOSE, `role and name: ${nodes}`);
    assert.ok(states.percent >= STATES_PERCENT, `states: ${states}`);
    assert.ok(states.differences <= STATES_ON_PURPOSE, `states: ${states}`);
  });
}

test('a value keeps its spaces', async () => {
  const pairs = await readPage('tuned/editing.html');
  const named = (label: string) => pairs.find(({ ours }) => ours?.name === label)?.ours;
  const valueIn = (label: string) => named(label)?.value;
  assert.equal(valueIn('Trailing'), 'trailing ');
  assert.equal(valueIn('Leading'), '  leading');
  assert.equal(valueIn('Inner spaces'), 'two  inner');
  assert.equal(valueIn('Lines'), 'one\n  two  \n');
});

async function measure(set: PageSet): Promise<Result> {
  const pages = new Map<string, Result>();
  const whole = emptyResult();
  for (const page of pagesOf(set)) {
    const result = judge(page, await readPage(page));
    pages.set(page, result);
    whole.nodes.add(result.nodes);
    whole.states.add(result.states);
  }
  console.log(write(set, pages, whole));
  return whole;
}

async function readPage(page: string): Promise<Pair[]> {
  const url = server.url(page);
  await browser.open(url);
  const ours = await readOurs(browser, url);
  assert.ok(ours.nodes.size > 0, `${page}: the walker told nothing`);
  return pair(ours, await readAllFrames(page, ours.documents));
}

// A frame of another site is attached to a moment after it has loaded.
async function readAllFrames(page: string, documents: number): Promise<ChromeTree> {
  const limit = performance.now() + FRAMES_WITHIN_MS;
  for (;;) {
    const tree = await readChromes(browser);
    if (tree.documents === documents) return tree;
    const found = `${page}: ${tree.documents} documents in Chrome, ${documents} in the extension`;
    assert.ok(performance.now() < limit, found);
    await delay(20);
  }
}
