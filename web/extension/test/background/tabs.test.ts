import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { TabReporter, type TabRules, type Visibility } from '../../src/background/tabs';
import { FakeChrome } from '../support/fake-chrome';

function start(rules: Partial<TabRules> = {}) {
  const told: string[] = [];
  const reporter = new TabReporter(
    {
      tabCreated: ({ id, title, url, active }) =>
        told.push(`created ${id} ${title} ${url}${active ? ' *' : ''}`),
      tabUpdated: ({ id, title, url }) => told.push(`updated ${id} ${title} ${url}`),
      tabClosed: (id) => told.push(`closed ${id}`),
      tabFocused: (id) => told.push(`focused ${id}`),
      tabsHidden: (count) => told.push(`hidden ${count}`),
    },
    { visibilityOf: () => 'whole', mayTell: () => true, ...rules },
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
  assert.deepEqual(news(), [`created ${a} A2 https://a.test/ *`, 'hidden 0']);
});

test('of sites that are kept from clients nothing is told', async () => {
  const browser = new FakeChrome().install();
  const bank = browser.open({ title: 'My money', url: 'https://bank.test/' });
  const { reporter, news } = start({ mayTell: (url) => !url.includes('bank') });
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

/** A browser in which a test decides what may be known of each tab. */
async function scene() {
  mock.timers.enable({ apis: ['setTimeout'] });
  const browser = new FakeChrome().install();
  const known = new Map<number, Visibility>();
  const told = start({ visibilityOf: (id) => known.get(id) ?? 'hidden' });
  const mail = browser.open({ title: 'Mail', url: 'https://mail.test/' });
  const shop = browser.open({ title: 'Shop', url: 'https://shop.test/' });
  /** Returns what was told since the last time, with what is told a little later. */
  const news = () => {
    mock.timers.tick(250);
    return told.news();
  };
  return { browser, known, reporter: told.reporter, mail, shop, news };
}

test('tabs that are no client’s are not told, only how many there are', async () => {
  const { browser, known, reporter, mail, shop, news } = await scene();
  known.set(shop, 'whole');
  browser.front = mail;
  await reporter.tellAll();
  assert.deepEqual(news(), [`created ${shop} Shop https://shop.test/`, 'hidden 1']);
  Object.assign(browser.tabs.get(mail) ?? {}, { title: 'Mail (1)' });
  await reporter.updated(await asTold(mail));
  await reporter.look(mail);
  await reporter.refocus();
  assert.deepEqual(news(), []);
  const other = browser.open({ title: 'Other', url: 'https://other.test/' });
  await reporter.created(await asTold(other));
  assert.deepEqual(news(), ['hidden 2']);
  await reporter.removed(other);
  assert.deepEqual(news(), ['hidden 1']);
  reporter.resync();
  assert.deepEqual(news(), [`created ${shop} Shop https://shop.test/`, 'hidden 1']);
  mock.timers.reset();
});

test('a tab is told when a client gets it, without its name when it is taken back, and gone when it is let go', async () => {
  const { known, reporter, mail, news } = await scene();
  await reporter.tellAll();
  assert.deepEqual(news(), ['hidden 2']);
  known.set(mail, 'whole');
  await reporter.review();
  assert.deepEqual(news(), [`created ${mail} Mail https://mail.test/`, 'hidden 1']);
  known.set(mail, 'number');
  await reporter.review();
  assert.deepEqual(news(), [`updated ${mail}  `]);
  known.set(mail, 'hidden');
  await reporter.review();
  await reporter.review();
  assert.deepEqual(news(), [`closed ${mail}`, 'hidden 2']);
  mock.timers.reset();
});

test('that a hidden tab is in front is told only as the end of the one before', async () => {
  const { browser, known, reporter, mail, shop, news } = await scene();
  known.set(shop, 'whole');
  browser.front = shop;
  await reporter.tellAll();
  assert.deepEqual(news(), [`created ${shop} Shop https://shop.test/ *`, 'hidden 1']);
  browser.front = mail;
  await reporter.refocus();
  assert.deepEqual(news(), [`updated ${shop} Shop https://shop.test/`]);
  browser.front = shop;
  await reporter.refocus();
  assert.deepEqual(news(), [`focused ${shop}`]);
  mock.timers.reset();
});

test('a tab that a client opens is not counted for the moment that it is nobody’s', async () => {
  const { browser, known, reporter, news } = await scene();
  await reporter.tellAll();
  news();
  const opened = browser.open({ title: 'New', url: 'https://new.test/' });
  await reporter.created(await asTold(opened));
  known.set(opened, 'whole');
  await reporter.look(opened);
  assert.deepEqual(news(), [`created ${opened} New https://new.test/`]);
  mock.timers.reset();
});

test('nothing is told before all tabs are', async () => {
  const { known, reporter, mail, news } = await scene();
  known.set(mail, 'whole');
  await reporter.updated(await asTold(mail));
  await reporter.look(mail);
  assert.deepEqual([reporter.isTelling, news()], [false, []]);
  mock.timers.reset();
});
