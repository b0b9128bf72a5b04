/**
 * Who a page is after a reload, and when its tab was duplicated.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled, until } from '../../shared/test/support/fake-clock';
import { FakeLocks, FakePage, opened, type Surroundings } from './support/fake-page';

/** Opens a page that is welcomed; returns the name it gave itself. */
async function visit(around: Surroundings, name = 'viewer') {
  const page = new FakePage(around);
  const { link, greet } = await opened({ name }, page);
  await until(() => page.sockets.all.length > 0);
  const hello = greet().of('hello')[0] ?? assert.fail();
  await settled();
  return { link, instanceId: hello.instanceId, resumeToken: hello.resumeToken };
}

test('a reload is the same session, with its token', async () => {
  const storage = new Map<string, string>();
  const locks = new FakeLocks();
  const first = await visit({ storage, locks });
  assert.equal(first.resumeToken, undefined);
  // A page that is left lets go of its locks.
  locks.held.clear();
  const second = await visit({ storage, locks });
  assert.deepEqual([second.instanceId, second.resumeToken], [first.instanceId, 'token']);
});

test('a duplicated tab is somebody new, and the first stays who it is', async () => {
  const locks = new FakeLocks();
  const storage = new Map<string, string>();
  const first = await visit({ storage, locks });
  const copy = await visit({ storage: new Map(storage), locks });
  assert.notEqual(copy.instanceId, first.instanceId);
  assert.equal(copy.resumeToken, undefined);
  assert.equal(first.link.status.type, 'connected');
});

test('another app, and another page, of the same tab are others', async () => {
  const storage = new Map<string, string>();
  const first = await visit({ storage });
  const names = [
    (await visit({ storage }, 'other')).instanceId,
    (await visit({ storage, href: 'http://127.0.0.1:5173/second/' })).instanceId,
  ];
  assert.ok(!names.includes(first.instanceId));
  assert.equal((await visit({ storage })).instanceId, first.instanceId);
});

test('a closed link lets its name go', async () => {
  const storage = new Map<string, string>();
  const locks = new FakeLocks();
  const first = await visit({ storage, locks });
  first.link.close();
  await settled();
  assert.equal((await visit({ storage, locks })).instanceId, first.instanceId);
});

test('a name that the app gives is taken as it is', async () => {
  const page = new FakePage({ storage: new Map() });
  await opened({ instanceId: 'mine' }, page);
  assert.match(page.sockets.last.url, /\/session\/mine$/);
});
