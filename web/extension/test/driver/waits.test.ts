import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { performWait } from '../../src/driver/navigation/waits';
import { DocumentGone } from '../../src/driver/page/content-calls';
import { registerSignals } from '../../src/driver/tab/signals';
import { fakePage } from '../support/fake-page';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
registerSignals();

const LONG_MS = 30_000;
const tell = browser.getTab;

function show(tabId: number, url: string): void {
  browser.tabs.set(tabId, { id: tabId, url, title: '', frozen: false });
}

function wanted(part: string) {
  return { type: 'url' as const, text: part, pattern: (url: string) => url.includes(part) };
}

test('an address that comes while the old one is being read is not overlooked', async () => {
  show(1, 'https://a.test/old');
  // The tab moves after it was looked at and before the answer is here.
  browser.getTab = async (id) => {
    const tab = await tell(id);
    show(1, 'https://a.test/new');
    browser
      .event('webNavigation.onHistoryStateUpdated')
      .raise({ tabId: 1, frameId: 0, url: 'https://a.test/new' });
    browser.getTab = tell;
    return tab;
  };
  // No time passes here: only the news of it can end the wait.
  mock.timers.enable({ apis: ['setTimeout'] });
  assert.equal(await performWait(fakePage(1), wanted('/new'), LONG_MS), true);
  mock.timers.reset();
});

test('an address that does not come is said not to have come', async () => {
  show(2, 'https://a.test/');
  assert.equal(await performWait(fakePage(2), wanted('/never'), 20), false);
});

test('a wait for something shown goes on in the document that takes the place of another', async () => {
  show(3, 'https://a.test/');
  let asked = 0;
  browser.content = () => {
    asked++;
    if (asked === 1) throw new Error('No document with id old in tab 3.');
    return true;
  };
  const wish = { type: 'selector', selector: '#late', state: 'visible' } as const;
  assert.equal(await performWait(fakePage(3), wish, LONG_MS), true);
  assert.equal(asked, 2);
});

test('an element that is named wrongly ends the wait at once', async () => {
  show(4, 'https://a.test/');
  browser.content = () => ({ problem: 'bad_selector', message: 'no selector: ##' });
  const wish = { type: 'selector', selector: '##', state: 'visible' } as const;
  await assert.rejects(performWait(fakePage(4), wish, LONG_MS), /give a CSS selector/);
});

test('a call into a document that is replaced meanwhile ends, though nothing ever answers', async () => {
  show(5, 'https://a.test/');
  browser.content = () => {
    const commit = { tabId: 5, frameId: 0, url: 'https://a.test/next', documentId: 'next' };
    browser.event('webNavigation.onCommitted').raise(commit);
    return new Promise(() => {});
  };
  const call = { where: { type: 'top' }, method: 'arm', args: [] } as const;
  await assert.rejects(
    fakePage(5).call({ ...call, args: [] }),
    (error) => error instanceof DocumentGone,
  );
});
