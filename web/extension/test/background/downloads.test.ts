import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Downloads } from '../../src/background/page-events';
import { FakeDriverChrome } from '../driver/fake-driver-chrome';

new FakeDriverChrome().install();
const driven = async () => [
  { id: 1, url: 'https://a.test/', client: 'x' },
  { id: 2, url: 'https://a.test/bills', client: 'y' },
  { id: 3, url: 'https://b.test/', client: 'z' },
];

function create(downloads: Downloads, id: number, url: string, referrer: string): Promise<void> {
  const rest = { state: 'in_progress', filename: '/x', startTime: new Date().toISOString() };
  return Reflect.apply(downloads.created, downloads, [
    { id, url, finalUrl: url, referrer, ...rest },
  ]);
}

test('what a page offers from a denied site is neither told nor remembered', async () => {
  const told: unknown[] = [];
  const emit = (_name: string, data: unknown) => void told.push(data);
  const downloads = new Downloads(emit, driven, (url) => !url.includes('denied'));
  await create(downloads, 1, 'https://denied.test/secret.pdf', 'https://a.test/');
  await create(downloads, 2, 'https://a.test/open.pdf', 'https://a.test/');
  assert.equal(told.length, 1);
  assert.deepEqual(
    downloads.begun().map(({ id }) => id),
    [2],
  );
});

test('only clients with a tab on its site may know of a download', async () => {
  const downloads = new Downloads(
    () => {},
    driven,
    () => true,
  );
  await create(downloads, 4, 'https://cdn.test/1.pdf', 'https://a.test/bills');
  await create(downloads, 5, 'https://cdn.test/2.pdf', 'https://b.test/');
  await create(downloads, 6, 'https://cdn.test/3.pdf', 'https://c.test/');
  assert.deepEqual(
    downloads.begun().map(({ id, tabId, clients }) => [id, tabId, clients.join()]),
    [
      [4, 2, 'y,x'],
      [5, 3, 'z'],
    ],
  );
});
