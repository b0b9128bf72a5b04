import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/command';
import type { BegunDownload } from '../../src/driver/common/services';
import { listDownloads, waitForDownload } from '../../src/driver/network/downloads';
import type { Caller } from '../../src/driver/page/page';
import { fakeServices } from '../support/fake-services';

interface Item {
  id: number;
  url: string;
  finalUrl: string;
  referrer: string;
  filename: string;
  mime: string;
  state: string;
  bytesReceived: number;
  totalBytes: number;
  error?: string;
}

const items = new Map<number, Item>();
const search = async ({ id }: { id: number }) => [items.get(id)].filter((item) => item);
Object.assign(globalThis, { chrome: { downloads: { search } } });

/** A browser with downloads, some of a site that is denied. */
class World {
  readonly listeners = new Set<() => void>();
  begun: BegunDownload[] = [];

  add(id: number, part: Partial<Item> = {}, clients: readonly string[] = ['x', 'y']): void {
    const url = part.url ?? `https://a.test/${id}`;
    const rest = { finalUrl: url, referrer: '', filename: `/home/x/${id}.txt`, mime: 'text/plain' };
    const size = { state: 'complete', bytesReceived: 5, totalBytes: 5 };
    items.set(id, { id, url, ...rest, ...size, ...part });
    this.begun = [...this.begun, { id, tabId: 1, clients, at: Date.now() }];
    this.#tell();
  }

  change(id: number, part: Partial<Item>): void {
    const item = items.get(id);
    if (item !== undefined) items.set(id, { ...item, ...part });
    this.#tell();
  }

  caller(signal = new AbortController().signal): Caller {
    return {
      client: { id: 'x', name: 'X' },
      limits: { signal, endsAt: performance.now() + 60_000 },
      services: fakeServices({
        checkSite(url) {
          if (url.includes('denied')) throw new CommandError('SITE_NOT_ALLOWED', 'no');
        },
        limitsSites: () => true,
        downloads: {
          begun: () => this.begun,
          listen: (listener) => {
            this.listeners.add(listener);
            return () => void this.listeners.delete(listener);
          },
        },
      }),
    };
  }

  #tell(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

function coded(code: string, message: RegExp) {
  return (error: unknown) =>
    error instanceof CommandError && error.code === code && message.test(error.message);
}

test('downloads are listed newest first, without those that a denied site has to do with', async () => {
  const world = new World();
  world.add(1);
  world.add(2, { url: 'https://denied.test/2' });
  world.add(3, { finalUrl: 'https://denied.test/3' });
  world.add(4, { referrer: 'https://denied.test/' });
  world.add(5, { filename: 'C:\\Users\\x\\5.txt', totalBytes: -1, mime: '' });
  const list = await listDownloads(world.caller());
  assert.deepEqual(list, [
    {
      id: 5,
      filename: '5.txt',
      path: 'C:\\Users\\x\\5.txt',
      url: 'https://a.test/5',
      state: 'complete',
      bytes: 5,
    },
    {
      id: 1,
      filename: '1.txt',
      path: '/home/x/1.txt',
      url: 'https://a.test/1',
      state: 'complete',
      bytes: 5,
      totalBytes: 5,
      mimeType: 'text/plain',
    },
  ]);
  const denied = waitForDownload(world.caller(), 2, 60_000);
  await assert.rejects(denied, coded('DOWNLOAD_NOT_FOUND', /download 2/));
});

test('a wait ends with the download it began with', async () => {
  const world = new World();
  world.add(11, { state: 'in_progress', bytesReceived: 1 });
  const waiting = waitForDownload(world.caller(), undefined, 60_000);
  world.add(12);
  world.change(11, { state: 'complete' });
  assert.equal((await waiting).id, 11);
  assert.equal((await waitForDownload(world.caller(), undefined, 60_000)).id, 12);
  const third = waitForDownload(world.caller(), undefined, 60_000);
  world.add(13, { state: 'in_progress' });
  world.change(13, { state: 'interrupted', error: 'NETWORK_FAILED' });
  await assert.rejects(third, coded('DOWNLOAD_FAILED', /NETWORK_FAILED/));
  assert.equal(world.listeners.size, 0);
});

test('a wait ends when it was withdrawn', async () => {
  const world = new World();
  const controller = new AbortController();
  const waiting = waitForDownload(world.caller(controller.signal), undefined, 60_000);
  controller.abort(new Error('withdrawn'));
  await assert.rejects(waiting, /withdrawn/);
  assert.equal(world.listeners.size, 0);
});

test("another client's downloads are neither listed nor waited for", async () => {
  const world = new World();
  world.add(1);
  world.add(2, {}, ['y']);
  const listed = await listDownloads(world.caller());
  assert.deepEqual(
    listed.map(({ id }) => id),
    [1],
  );
  await assert.rejects(waitForDownload(world.caller(), 2, 50), /no driven tab/);
});
