/**
 * Which hub the page joins: one on this machine or its own, whatever its address says; and which
 * of them is shown the page's key.
 */

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { FakePage } from '../../sdk/test/support/fake-page';
import { settled } from '../../shared/test/support/fake-clock';
import { openLink } from '../src/link';
import { checkHub, readPageAddress } from '../src/page-address';
import { INITIAL_STATE } from '../src/state';
import { Store } from '../src/store';
import type { Room } from '../src/tools/tool';

const room: Room = {
  store: new Store(INITIAL_STATE),
  builtin: () => assert.fail('not asked for'),
  fetchModel: () => assert.fail('not asked for'),
  describeBuiltin: () => '',
  picture: () => '',
};

/** Opens the page as a link would; returns what it did. */
function opened(href: string, pageKey = {}): { page: FakePage; open: () => { close(): void } } {
  const page = new FakePage({ href });
  Object.assign(globalThis, { window: page, location: page.location });
  const address = readPageAddress(page.location.search);
  const open = () => openLink(room, address, { onStatus: () => {}, onAct: () => {} }, pageKey);
  return { page, open };
}

afterEach(() => {
  for (const name of ['window', 'location']) Reflect.deleteProperty(globalThis, name);
});

test('a hub on this machine, or the one that serves the page, is joined', async () => {
  for (const [href, host] of [
    ['http://127.0.0.1:8765/viewer/', '127.0.0.1:8765'],
    ['http://127.0.0.1:8765/viewer/?hub=http://127.0.0.1:9000', '127.0.0.1:9000'],
    ['http://127.0.0.1:8765/viewer/?hub=ws://localhost:9000', 'localhost:9000'],
    ['http://127.0.0.1:8765/viewer/?hub=http://[::1]:9000/', '[::1]:9000'],
    ['https://hub.example/viewer/?hub=https://hub.example', 'hub.example'],
  ] as const) {
    const { page, open } = opened(href);
    const link = open();
    await settled();
    assert.deepEqual(
      page.sockets.all.map(({ url }) => new URL(url).host),
      [host],
      href,
    );
    link.close();
  }
  checkHub('wss://hub.example', 'https://hub.example');
});

test('only the hub that serves the page is shown its key', async () => {
  for (const [href, host, isShown] of [
    ['http://hub.example:8765/viewer/', 'hub.example:8765', true],
    ['http://hub.example:8765/', 'hub.example:8765', true],
    ['https://hub.example/viewer/?hub=https://hub.example', 'hub.example', true],
    ['http://127.0.0.1:8765/viewer/?hub=http://127.0.0.1:9000', '127.0.0.1:9000', false],
    ['http://127.0.0.1:8765/viewer/?hub=http://localhost:8765', 'localhost:8765', false],
  ] as const) {
    const { page, open } = opened(href, { key: 'page.abc.00ff' });
    const link = open();
    await settled();
    const { url, protocols } = page.sockets.last;
    const expected = isShown ? ['tabwire.v1', 'bearer.page.abc.00ff'] : ['tabwire.v1'];
    assert.deepEqual([new URL(url).host, protocols], [host, expected], href);
    assert.doesNotMatch(url, /page\.abc/);
    link.close();
  }
});

test('any other hub is refused in plain words, and nothing is asked of it', async () => {
  for (const hub of [
    'http://evil.example:8765',
    'https://evil.example',
    'wss://evil.example',
    'ws://127.0.0.1.evil.example:8765',
    'http://127.0.0.1@evil.example',
    'http://192.168.1.7:8765',
    'https://127.0.0.1:8765',
    '//evil.example',
    'evil.example:8765',
    'data:text/plain,x',
    'nonsense',
  ]) {
    const href = `http://127.0.0.1:8765/viewer/?hub=${encodeURIComponent(hub)}`;
    const { page, open } = opened(href);
    assert.throws(open, /does not join the hub at .*, which is not on this machine$/, hub);
    await settled();
    assert.deepEqual([page.sockets.all.length, page.fetched, page.said], [0, [], []], hub);
  }
});
