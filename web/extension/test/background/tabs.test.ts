import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TabReporter } from '../../src/background/tabs';
import { FakeChrome } from '../support/fake-chrome';

function start(mayTell: (url: string) => boolean = () => true) {
  const told: string[] = [];
  const reporter = new TabReporter(
    {
      tabCreated: ({ id, title, url, active }) =>
        told.push(`created ${id} ${title} ${url}${active ? ' *' : ''}`),
      tabUpdated: ({ id, title, url }) => told.push(`updated ${id} ${title} ${url}`),
      tabClosed: (id) => told.push(`closed ${id}`),
      tabFocused: (id) => told.push(`focused ${id}`),
    },
    mayTell,
  );
  /** Returns what was told since the last time. */
  const news = () => told.splice(0);
  return { reporter, news };
}

/** The tab as the browser would hand it to a listener. */
async function asTold(id: number): Promise<chrome.tabs.Tab> {
  return chrome.tabs.get(id);
}

test('all tabs are told, then only what changes', async () => {
  const browser = new FakeChrome().install();
  const a = browser.open({ title: 'A', url: 'https://a.test/' });
  const b = browser.open({ title: 'B', url: 'https://b.test/' });
  browser.front = b;
  const { reporter, news } = start();
  await reporter.tellAll();
  assert.deepEqual(news(), [`created ${a} A https://a.test/`, `created ${b} B https://b.test/ *`]);

  await reporter.updated(await asTold(a));
  assert.deepEqual(news(), []);
  Object.assign(browser.tabs.get(a) ?? {}, { title: 'A2' });
  await reporter.updated(await asTold(a));
  assert.deepEqual(news(), [`updated ${a} A2 https://a.test/`]);

  browser.front = a;
  await reporter.refocus();
  await reporter.refocus();
  assert.deepEqual(news(), [`focused ${a}`]);

  await reporter.removed(b);
  await reporter.removed(b);
  assert.deepEqual(news(), [`closed ${b}`]);

  reporter.resync();
  assert.deepEqual(news(), [`created ${a} A2 https://a.test/ *`]);
});

test('of sites that are kept from clients nothing is told', async () => {
  const browser = new FakeChrome().install();
  const bank = browser.open({ title: 'My money', url: 'https://bank.test/' });
  const { reporter, news } = start((url) => !url.includes('bank'));
  await reporter.tellAll();
  assert.deepEqual(news(), [`created ${bank}  `]);
  Object.assign(browser.tabs.get(bank) ?? {}, { title: 'Less money' });
  await reporter.updated(await asTold(bank));
  assert.deepEqual(news(), []);
});

test('a tab with a new number is closed and created', async () => {
  const browser = new FakeChrome().install();
  const before = browser.open();
  const { reporter, news } = start();
  await reporter.tellAll();
  news();
  browser.tabs.delete(before);
  const after = browser.open({ title: 'Same' });
  await reporter.replaced(after, before);
  assert.deepEqual(news(), [`closed ${before}`, `created ${after} Same about:blank`]);
});

test('never more tabs than a hub keeps', async () => {
  const browser = new FakeChrome().install();
  for (let n = 0; n < 1005; n += 1) browser.open();
  const { reporter, news } = start();
  await reporter.tellAll();
  assert.equal(news().length, 1000);
  const next = browser.open();
  await reporter.created(await asTold(next));
  const [closed, created] = news();
  assert.match(closed ?? '', /^closed/);
  assert.match(created ?? '', new RegExp(`^created ${next} `));
});
