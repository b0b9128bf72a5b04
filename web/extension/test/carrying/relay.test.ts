/**
 * The content script: answers pages that ask, passes on what they say, and survives the worker.
 */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { settled, until } from '../../../shared/test/support/fake-clock';
import { isRecord } from '../../src/check';
import { type AskingWindow, answerPages, type Place, stand } from '../../src/content/carrier';
import { asPort, FakePort } from './fake-ports';

type Listener = Parameters<AskingWindow['addEventListener']>[1];

/** A window with a page that asks, and the ports that were opened to the worker. */
class FakeWindow implements AskingWindow {
  readonly listeners = new Set<Listener>();
  /** What the worker says of the page's origin. */
  allowed: Promise<boolean> = Promise.resolve(true);
  questions = 0;
  readonly workers: FakePort[] = [];
  readonly answers: { message: unknown; ports: readonly unknown[] }[] = [];
  isGone = false;
  isOrphaned = false;
  time = 0;

  readonly worker = {
    isThere: () => !this.isGone,
    allows: () => {
      this.questions += 1;
      return this.allowed;
    },
    connect: () => {
      if (this.isOrphaned) throw new Error('Extension context invalidated.');
      const port = new FakePort();
      this.workers.push(port);
      return asPort(port);
    },
  };

  /** A window in which the script stands. */
  static answering(): FakeWindow {
    const window = new FakeWindow();
    void answerPages(window, window.worker, () => window.time);
    return window;
  }

  addEventListener(_: 'message', listener: Listener): void {
    this.listeners.add(listener);
  }

  removeEventListener(_: 'message', listener: Listener): void {
    this.listeners.delete(listener);
  }

  postMessage(message: unknown, targetOrigin: string, ports: Transferable[]): void {
    assert.equal(targetOrigin, '/', 'for the page itself and nobody else');
    this.answers.push({ message, ports });
  }

  /** Somebody says something to the window. */
  hear(data: unknown, source: unknown = this): void {
    // The window is the source, as far as the code under test can see.
    const event = { data, source } as unknown as Parameters<Listener>[0];
    for (const listener of [...this.listeners]) listener(event);
  }

  /** Asks, and returns the page's side of the connection. */
  async ask(): Promise<PageSide> {
    this.hear({ tabwire: 'carrier?', id: 'q1' });
    await settled();
    const [port] = this.answers.at(-1)?.ports ?? [];
    assert.ok(port instanceof MessagePort);
    return new PageSide(port);
  }
}

class PageSide {
  readonly heard: Record<string, unknown>[] = [];
  readonly port: MessagePort;

  constructor(port: MessagePort) {
    this.port = port;
    port.onmessage = ({ data }: { data: unknown }) => {
      if (isRecord(data)) this.heard.push(data);
    };
    after(() => port.close());
  }
}

const OPEN = { type: 'open', instanceId: 'page' };

test('only a page of this very window that asks is answered, and no port is opened for it', async () => {
  const window = FakeWindow.answering();
  for (const other of [
    'carrier?',
    null,
    { tabwire: 'carrier!', id: 'q1' },
    { tabwire: 'carrier?' },
    { tabwire: 'carrier?', id: 7 },
    { tabwire: 'carrier?', id: 'x'.repeat(65) },
  ]) {
    window.hear(other);
  }
  window.hear({ tabwire: 'carrier?', id: 'q1' }, {});
  await settled();
  assert.equal(window.answers.length, 0);
  await window.ask();
  assert.deepEqual(window.answers[0]?.message, { tabwire: 'carrier!', id: 'q1' });
  assert.equal(window.workers.length, 0);
});

test('messages pass both ways, each question has a port of its own', async () => {
  const window = FakeWindow.answering();
  const [one, two] = [await window.ask(), await window.ask()];
  one.port.postMessage(OPEN);
  two.port.postMessage(OPEN);
  await until(() => window.workers.length === 2);
  const [worker] = window.workers;
  assert.ok(worker);
  assert.deepEqual(worker.said, [OPEN]);
  one.port.postMessage({ type: 'nonsense' });
  one.port.postMessage({ type: 'frame', data: 7 });
  one.port.postMessage({ type: 'frame', data: '{}' });
  await until(() => worker.said.length > 1);
  assert.deepEqual(worker.said, [OPEN, { type: 'frame', data: '{}' }]);
  worker.say({ type: 'open' });
  worker.say({ type: 'frame', data: '{"a":1}' });
  await until(() => one.heard.length === 2);
  assert.deepEqual(one.heard, [{ type: 'open' }, { type: 'frame', data: '{"a":1}' }]);
  assert.deepEqual(two.heard, []);
  one.port.postMessage({ type: 'close', code: 1000, reason: '' });
  await until(() => !worker.isOpen);
  assert.equal(worker.last?.type, 'close');
});

test('a page that asks again and again does not keep the worker busy', async () => {
  const window = FakeWindow.answering();
  const pages: PageSide[] = [];
  for (let n = 0; n < 100; n += 1) pages.push(await window.ask());
  for (const { port } of pages) port.postMessage(OPEN);
  await until(() => pages.every(({ heard }, at) => at < 20 || heard.length === 1));
  assert.equal(window.workers.length, 20);
  assert.deepEqual([pages[99]?.heard[0]?.type, pages[99]?.heard[0]?.code], ['close', 1013]);
  window.time = 10_000;
  (await window.ask()).port.postMessage(OPEN);
  await until(() => window.workers.length === 21);
});

test('the death of the worker is an end that the page may come back from', async () => {
  const window = FakeWindow.answering();
  const page = await window.ask();
  page.port.postMessage(OPEN);
  await until(() => window.workers.length === 1);
  window.workers[0]?.leave();
  await until(() => page.heard.length === 1);
  assert.deepEqual(page.heard, [{ type: 'close', code: 1012, reason: 'the extension was ended' }]);
  const again = await window.ask();
  again.port.postMessage(OPEN);
  await until(() => window.workers.length === 2);
});

test('an end that the worker tells is told once', async () => {
  const window = FakeWindow.answering();
  const page = await window.ask();
  page.port.postMessage(OPEN);
  await until(() => window.workers.length === 1);
  window.workers[0]?.say({ type: 'close', code: 4403, reason: 'no' });
  window.workers[0]?.leave();
  await until(() => page.heard.length > 0);
  assert.deepEqual(page.heard, [{ type: 'close', code: 4403, reason: 'no' }]);
});

test('a script whose extension is gone does not answer', async () => {
  const window = FakeWindow.answering();
  window.isGone = true;
  window.hear({ tabwire: 'carrier?', id: 'q1' });
  await settled();
  assert.equal(window.answers.length, 0);
});

test('an extension that goes after it has answered is told as gone', async () => {
  const window = FakeWindow.answering();
  window.isOrphaned = true;
  const page = await window.ask();
  page.port.postMessage(OPEN);
  await until(() => page.heard.length === 1);
  assert.match(String(page.heard[0]?.reason), /reload/);
});

test('in a page whose origin is not allowed the script does nothing', async () => {
  for (const no of [async () => false, () => Promise.reject(new Error('no worker'))]) {
    const window = new FakeWindow();
    window.worker.allows = no;
    const answering = answerPages(window, window.worker);
    window.hear({ tabwire: 'carrier?', id: 'q1' });
    assert.equal(await answering, false);
    window.hear({ tabwire: 'carrier?', id: 'q2' });
    await settled();
    assert.deepEqual([window.answers, window.workers, window.listeners.size], [[], [], 0]);
  }
});

test('a page that asks before the worker has said whether it may is answered then', async () => {
  const window = new FakeWindow();
  let say = (_: boolean) => {};
  window.allowed = new Promise((resolve) => {
    say = resolve;
  });
  void answerPages(window, window.worker);
  window.hear({ tabwire: 'carrier?', id: 'q1' });
  await settled();
  assert.equal(window.answers.length, 0);
  say(true);
  await settled();
  assert.equal(window.answers.length, 1);
});

test('a script that is put in again stands aside, unless the first was told no', async () => {
  const window = new FakeWindow();
  const place: Place = {};
  window.allowed = Promise.resolve(false);
  stand(place, window, window.worker);
  await settled();
  window.allowed = Promise.resolve(true);
  for (let n = 0; n < 3; n += 1) stand(place, window, window.worker);
  await settled();
  assert.deepEqual([window.questions, window.listeners.size], [2, 1]);
  await window.ask();
  assert.equal(window.answers.length, 1);
});
