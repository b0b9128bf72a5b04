/**
 * What a page is told when there is no connection: why, in plain words, and whether waiting helps.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled, until } from '../../shared/test/support/fake-clock';
import { FakePage, opened, type Surroundings } from './support/fake-page';

/** The words on the button of the extension that lets a page connect. */
const BUTTON = /press "Let this page connect" in the Tabwire extension/;

/** Has a page fail once, and returns what it was told in the end. */
async function failed(around: Surroundings) {
  const page = new FakePage(around);
  const { link, statuses } = await opened({}, page);
  if (page.sockets.all.length === 0) await page.clock.advance(300);
  page.sockets.last.end(1006);
  await until(() => link.status.reason !== undefined);
  return { link, page, statuses, status: link.status };
}

test('nobody answers: the hub is not running', async () => {
  const { status, page } = await failed({});
  assert.equal(status.reason, 'hub_not_running');
  assert.equal(status.type, 'waiting');
  assert.match(
    status.message ?? '',
    /no hub answers at http:\/\/127\.0\.0\.1:8765; .*tabwire serve/,
  );
  assert.deepEqual(page.fetched[0], { url: 'http://127.0.0.1:8765/health', mode: 'no-cors' });
});

test('somebody answers but takes no socket: the origin is not allowed', async () => {
  const { status } = await failed({ href: 'https://app.example/', answers: true });
  assert.equal(status.type, 'refused');
  assert.equal(status.reason, 'origin_not_allowed');
  assert.match(status.message ?? '', /--allow-origin 'https:\/\/app\.example'/);
  assert.match(status.message ?? '', BUTTON);
});

test('somebody answers a page of this machine but takes no socket: that is no hub', async () => {
  const { status } = await failed({ answers: true });
  assert.deepEqual([status.type, status.reason], ['refused', 'refused']);
  assert.match(status.message ?? '', /is it a Tabwire hub/);
});

test('the browser does not let the page reach this machine', async () => {
  for (const [name, state] of [
    ['loopback-network', 'denied'],
    ['loopback-network', 'prompt'],
    ['local-network-access', 'denied'],
  ] as const) {
    const { status } = await failed({
      href: 'https://app.example/',
      permissions: { [name]: state },
    });
    assert.equal(status.reason, 'local_network_refused', `${name} ${state}`);
    assert.match(status.message ?? '', BUTTON);
    assert.equal(status.type, 'refused');
  }
});

test('a permission that was given, or that a page of this machine does not need, is not the reason', async () => {
  const given = await failed({
    href: 'https://app.example/',
    permissions: { 'loopback-network': 'granted' },
  });
  assert.equal(given.status.reason, 'hub_not_running');
  const local = await failed({ permissions: { 'loopback-network': 'prompt' } });
  assert.equal(local.status.reason, 'hub_not_running');
});

test('the policy of the page itself forbids it', async () => {
  const { status } = await failed({ blocked: 'http://127.0.0.1:8765/health' });
  assert.equal(status.reason, 'page_policy');
  assert.match(status.message ?? '', /connect-src/);
  assert.match(status.message ?? '', BUTTON);
  const other = await failed({ blocked: 'https://elsewhere.example/x.png' });
  assert.equal(other.status.reason, 'hub_not_running');
});

test('an error without an end, as Chrome tells of a forbidden socket, is looked into at once', async () => {
  const page = new FakePage({ blocked: 'http://127.0.0.1:8765/health' });
  const { link } = await opened({}, page);
  page.sockets.last.failOnly();
  await until(() => link.status.reason === 'page_policy');
  assert.equal(link.status.type, 'connecting');
});

test('another page has the session', async () => {
  const { link, greet } = await opened();
  const socket = greet();
  socket.say({ type: 'bye', code: 'superseded', retry: false, message: 'the same peer came back' });
  assert.equal(link.status.type, 'refused');
  assert.equal(link.status.reason, 'taken');
  assert.equal(link.status.retryInMs, undefined);
});

test('a session that another live page holds is tried again', async () => {
  const { page, link } = await opened();
  page.sockets.last.open();
  page.sockets.last.say({ type: 'bye', code: 'instance_in_use', retry: true });
  assert.equal(link.status.type, 'refused');
  assert.equal(link.status.reason, 'taken');
  assert.equal(typeof link.status.retryInMs, 'number');
});

test('what else the hub says is passed on in its own words', async () => {
  const { link, greet } = await opened();
  const message = 'more tools than the hub keeps';
  greet().say({ type: 'bye', code: 'limit_exceeded', retry: false, message });
  assert.deepEqual(link.status, { type: 'refused', reason: 'refused', message });
});

test('a lost connection comes back; the reason stays until then and is forgotten after', async () => {
  const { page, link, greet, statuses } = await opened();
  greet().end(1006);
  assert.deepEqual([link.status.type, link.status.reason], ['waiting', 'lost']);
  await page.clock.advance(0);
  assert.deepEqual([link.status.type, link.status.reason], ['connecting', 'lost']);
  page.sockets.last.end(1006);
  await until(() => link.status.reason === 'hub_not_running');
  await page.clock.advance(1000);
  greet();
  assert.deepEqual(statuses.at(-1), { type: 'connected', session: 'viewer' });
});

test('a hub that restarts says so', async () => {
  const { link, greet } = await opened();
  greet().say({ type: 'bye', code: 'restarting', retry: true, message: 'the hub is restarting' });
  assert.deepEqual([link.status.reason, link.status.message], ['lost', 'the hub is restarting']);
});

test('a diagnosis that comes after the connection is not told', async () => {
  const { page, link, greet, statuses } = await opened();
  page.sockets.last.end(1006);
  await page.clock.advance(0);
  greet();
  await settled();
  await settled();
  assert.equal(link.status.type, 'connected');
  assert.ok(statuses.every(({ reason }) => reason === undefined || reason === 'hub_not_running'));
});
