import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { CommandError } from '../../src/command';
import { withoutDenied } from '../../src/driver/page/denied-frames';
import { registerSignals } from '../../src/driver/tab/signals';
import { fakePage } from '../support/fake-page';
import { FakeDriverChrome, type FakeFrame } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
registerSignals();

const page = fakePage(1, {
  limitsSites: () => true,
  checkSite: (url) => {
    if (url.includes('denied.test')) {
      throw new CommandError('SITE_NOT_ALLOWED', 'the user does not allow denied.test');
    }
  },
});

const TOP: FakeFrame = {
  url: 'https://a.test/',
  frameId: 0,
  parentFrameId: -1,
  documentId: 'top',
};

function frame(frameId: number, url: string, parentFrameId = 0): FakeFrame {
  return { url, frameId, parentFrameId, documentId: `d${frameId}` };
}

/** What the content script was told, and how often a picture was taken. */
const told: string[] = [];
let taken = 0;
let isHeld: () => boolean = () => true;

const take = async () => {
  told.push('take');
  return ++taken;
};

beforeEach(() => {
  told.splice(0);
  taken = 0;
  isHeld = () => true;
  browser.content = (method, args, { documentIds }) => {
    if (method === 'geometry') return { path: [Number(documentIds?.[0]?.slice(1))] };
    told.push(args.length === 0 ? method : `${method} ${JSON.stringify(args[0])}`);
    return method === 'uncoverFrames' ? isHeld() : null;
  };
});

test('a page without denied frames is not touched', async () => {
  browser.frames.set(1, [TOP, frame(2, 'https://b.test/')]);
  assert.equal(await withoutDenied(page, take), 1);
  assert.deepEqual(told, ['take']);
});

test('only frames that hold nothing denied stay visible, at any depth', async () => {
  browser.frames.set(1, [
    TOP,
    frame(2, 'https://b.test/'),
    frame(3, 'https://denied.test/'),
    frame(4, 'https://c.test/'),
    frame(5, 'about:srcdoc', 4),
    frame(6, 'https://denied.test/', 5),
    frame(7, 'about:blank'),
    frame(8, 'about:srcdoc', 3),
    frame(9, 'data:text/html,x'),
  ]);
  assert.equal(await withoutDenied(page, take), 1);
  assert.deepEqual(told, ['coverFrames [2,7,9]', 'take', 'uncoverFrames']);
});

test('a picture is thrown away when a cover was lifted, and taken again', async () => {
  browser.frames.set(1, [TOP, frame(3, 'https://denied.test/')]);
  let uncovered = 0;
  isHeld = () => ++uncovered > 1;
  assert.equal(await withoutDenied(page, take), 2);
  isHeld = () => false;
  await assert.rejects(withoutDenied(page, take), /no picture.*does not allow denied\.test/);
  assert.equal(taken, 5, 'three tries');
});

test('a picture is thrown away when a denied frame came meanwhile, were it for a moment', async () => {
  browser.frames.set(1, [TOP]);
  const passing = async () => {
    if (taken === 0) {
      const url = 'https://denied.test/';
      const commit = { tabId: 1, frameId: 9, url, documentId: 'x' };
      browser.event('webNavigation.onCommitted').raise(commit);
    }
    return take();
  };
  assert.equal(await withoutDenied(page, passing), 2);
  const staying = async () => {
    browser.frames.set(1, [TOP, frame(9, 'https://denied.test/')]);
    return take();
  };
  assert.equal(await withoutDenied(page, staying), 4, 'covered the second time');
  assert.equal(told.at(-3), 'coverFrames []');
});

test('what fails is told, and the page is uncovered all the same', async () => {
  browser.frames.set(1, [TOP, frame(3, 'https://denied.test/')]);
  const failing = async () => {
    throw new Error('no picture today');
  };
  await assert.rejects(withoutDenied(page, failing), /no picture today/);
  assert.equal(told.at(-1), 'uncoverFrames');
});
