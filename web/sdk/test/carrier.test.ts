/**
 * Pages that the extension carries, with a carrier that the test plays over a real message channel.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRecord } from '../../shared/src/values';
import { until } from '../../shared/test/support/fake-clock';
import { welcome } from '../../shared/test/support/fake-socket';
import { FakePage, opened } from './support/fake-page';

/** What a content script hears and says on one port. */
class FakeCarrier {
  readonly heard: Record<string, unknown>[] = [];
  readonly #channel = new MessageChannel();

  constructor() {
    this.#channel.port1.onmessage = ({ data }: { data: unknown }) => {
      if (isRecord(data)) this.heard.push(data);
    };
  }

  /** Answers the newest question of a page. */
  answer(page: FakePage, inOne = false): void {
    const asked = page.said.at(-1);
    assert.ok(isRecord(asked) && asked.tabwire === 'carrier?');
    const answer = { tabwire: 'carrier!', id: asked.id };
    if (!inOne) page.hear(answer);
    page.hear(answer, [this.#channel.port2]);
  }

  say(message: unknown): void {
    this.#channel.port1.postMessage(message);
  }

  /** Returns the frames that came, parsed. */
  get frames(): Record<string, unknown>[] {
    return this.heard
      .filter(({ type }) => type === 'frame')
      .map(({ data }) => JSON.parse(String(data)));
  }

  close(): void {
    this.#channel.port1.close();
  }
}

const FOREIGN = { href: 'https://app.example/' };

test('a page from elsewhere goes through the extension', async () => {
  for (const inOne of [true, false]) {
    const page = new FakePage(FOREIGN);
    const { link } = await opened({ instanceId: 'me', state: () => ({ a: 1 }) }, page);
    assert.equal(link.status.type, 'connecting');
    const carrier = new FakeCarrier();
    carrier.answer(page, inOne);
    await until(() => carrier.heard.length === 1);
    assert.deepEqual(carrier.heard[0], { type: 'open', instanceId: 'me' });
    carrier.say({ type: 'open' });
    await until(() => carrier.frames.length === 1);
    const hello = carrier.frames[0] ?? assert.fail();
    assert.equal(hello.type, 'hello');
    const received = { epoch: String(hello.epoch), sequence: 0 };
    carrier.say({ type: 'frame', data: JSON.stringify(welcome({ received })) });
    await until(() => link.status.type === 'connected');
    await until(() => carrier.frames.some(({ type }) => type === 'stateUpdate'));
    link.close();
    await until(() => carrier.heard.at(-1)?.type === 'close');
    assert.equal(carrier.heard.at(-1)?.code, 1000);
    assert.equal(page.sockets.all.length, 0, 'the page opened no socket');
    assert.equal(page.listens, false);
    carrier.close();
  }
});

test('without an answer within 300 ms the page tries by itself', async () => {
  const page = new FakePage(FOREIGN);
  await opened({}, page);
  await page.clock.advance(299);
  assert.equal(page.sockets.all.length, 0);
  await page.clock.advance(1);
  assert.equal(page.sockets.all.length, 1);
  assert.equal(page.listens, false);
});

test('an answer without a port is not waited for for ever', async () => {
  const page = new FakePage(FOREIGN);
  await opened({}, page);
  const asked = page.said[0];
  assert.ok(isRecord(asked));
  page.hear({ tabwire: 'carrier!', id: asked.id });
  await page.clock.advance(2_999);
  assert.equal(page.sockets.all.length, 0);
  await page.clock.advance(1);
  assert.equal(page.sockets.all.length, 1);
});

test('answers to others, and from other windows, are none', async () => {
  const page = new FakePage(FOREIGN);
  await opened({}, page);
  const { port2 } = new MessageChannel();
  const asked = page.said[0];
  assert.ok(isRecord(asked));
  page.hear({ tabwire: 'carrier!', id: 'another' }, [port2]);
  page.hear({ tabwire: 'carrier!', id: asked.id }, [port2], {});
  page.hear('carrier!', [port2]);
  await page.clock.advance(300);
  assert.equal(page.sockets.all.length, 1);
  port2.close();
});

test('a page of this machine asks only after its policy has forbidden a socket', async () => {
  for (const [around, asks] of [
    [{ blocked: 'http://127.0.0.1:8765/health' }, true],
    [{ answers: true }, false],
    [{}, false],
  ] as const) {
    const page = new FakePage(around);
    const { link } = await opened({}, page);
    assert.deepEqual(page.said, []);
    page.sockets.last.end(1006);
    await until(() => link.status.reason !== undefined);
    await page.clock.advance(600);
    page.sockets.last.end(1006);
    await page.clock.advance(600);
    assert.equal(page.said.length > 0, asks, link.status.reason);
  }
});

test('a page that the user has not allowed is told so, and asks again', async () => {
  const page = new FakePage(FOREIGN);
  const { link } = await opened({}, page);
  for (const reason of ['not_allowed_yet', 'origin_not_allowed'] as const) {
    const carrier = new FakeCarrier();
    carrier.answer(page);
    await until(() => carrier.heard.length === 1);
    const message = `${reason}; look into the Tabwire extension`;
    const bye = { type: 'bye', code: reason, retry: true, message };
    carrier.say({ type: 'frame', data: JSON.stringify(bye) });
    carrier.say({ type: 'close', code: 4403, reason: message });
    await until(() => link.status.reason === reason);
    assert.equal(link.status.type, 'refused');
    assert.equal(link.status.message, message);
    const asked = page.said.length;
    await page.clock.advance(link.status.retryInMs ?? assert.fail('no further attempt'));
    assert.equal(page.said.length, asked + 1);
    carrier.close();
  }
  assert.equal(page.sockets.all.length, 0, 'the page opened no socket');
  link.close();
});

test('a carrier that goes away, or has no hub, is asked for again', async () => {
  const page = new FakePage(FOREIGN);
  const { link } = await opened({}, page);
  const carrier = new FakeCarrier();
  carrier.answer(page);
  await until(() => carrier.heard.length === 1);
  carrier.say({ type: 'close', code: 1006, reason: 'the hub does not answer' });
  await until(() => link.status.reason !== undefined);
  assert.equal(link.status.type, 'waiting');
  assert.equal(link.status.reason, 'hub_not_running');
  assert.match(link.status.message ?? '', /extension: the hub does not answer/);
  await page.clock.advance(0);
  assert.equal(page.said.length, 2);
  const next = new FakeCarrier();
  next.answer(page);
  await until(() => next.heard.length === 1);
  link.close();
  carrier.close();
  next.close();
});
