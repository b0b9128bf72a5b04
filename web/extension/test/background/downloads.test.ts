import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Downloads } from '../../src/background/page-events';
import { FakeDriverChrome } from '../driver/fake-driver-chrome';

const { tabs } = new FakeDriverChrome().install();
tabs.set(1, { id: 1, url: 'https://a.test/', title: 'A', frozen: false });

test('what a page offers from a denied site is neither told nor remembered', async () => {
  const told: unknown[] = [];
  const emit = (_name: string, data: unknown) => void told.push(data);
  const driven = async () => [await chrome.tabs.get(1)];
  const downloads = new Downloads(emit, driven, (url) => !url.includes('denied'));
  const create = (id: number, url: string) => {
    const rest = { state: 'in_progress', filename: '/x', startTime: new Date().toISOString() };
    const item = { id, url, finalUrl: url, referrer: 'https://a.test/', ...rest };
    return Reflect.apply(downloads.created, downloads, [item]);
  };
  await create(1, 'https://denied.test/secret.pdf');
  await create(2, 'https://a.test/open.pdf');
  assert.equal(told.length, 1);
  assert.deepEqual(
    downloads.begun().map(({ id }) => id),
    [2],
  );
});
