/**
 * The content script: answers pages that ask, passes on what they say, and survives the worker.
 */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { until } from '../../../shared/test/support/fake-clock';
import { isRecord } from '../../src/check';
import { type AskingWindow, answerPages } from '../../src/content/carrier';
import { asPort, FakePort } from './fake-ports';

type Listener = Parameters<AskingWindow['addEventListener']>[1];

/** A window with a page that asks, and the ports that were opened to the worker. */
class FakeWindow implements AskingWindow {
  readonly #listeners: Listener[] = [];
  readonly workers: FakePort[] = [];
  readonly answers: { message: unknown; ports: readonly unknown[] }[] = [];
  isGone = false;
  isOrphaned = false;
  time = 0;

  constructor() {
    const worker = {
      isThere: () => !this.isGone,
      connect: () => {
        if (this.isOrphaned) throw new Error('Extension context invalidated.');
        const port = new FakePort();
        this.workers.push(port);
        return asPort(port);
      },
    };
    answerPages(this, worker, () => this.time);
  }

  addEventListener(_: 'message', listener: Listener): void {
    this.#listeners.push(listener);
  }

  postMessage(message: unknown, targetOrigin: string, ports: Transferable[]): void {
    assert.equal(targetOrigin, '/', 'for the page itself and nobody else');
    this.answers.push({ message, ports });
  }

  /** Somebody says something to the window. */
  hear(data: unknown, source: unknown = this): void {
    // The window is the source, as far as the code under test can see.
    const event = { data, source } as unknown as Parameters<Listener>[0];
    for (const listener of this.#listeners) listener(event);
  }

  /** Asks, and returns the page's side of the connection. */
  ask(): PageSide {
    this.hear({ tabwire: 'carrier?', id: 'q1' });
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

test('only a page of this very window that asks is answered, and nobody is woken for it', () => {
  const window = new FakeWindow();
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
  assert.equal(window.answers.length, 0);
  window.ask();
  assert.deepEqual(window.answers[0]?.message, { tabwire: 'carrier!', id: 'q1' });
  assert.equal(window.workers.length, 0);
});

test('messages pass both ways, each question has a port of its own', async () => {
  const window = new FakeWindow();
  const [one, two] = [window.ask(), window.ask()];
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
  const window = new FakeWindow();
  const pages = Array.from({ length: 100 }, () => window.ask());
  for (const { port } of pages) port.postMessage(OPEN);
  await until(() => pages.every(({ heard }, at) => at < 20 || heard.length === 1));
  assert.equal(window.workers.length, 20);
  assert.deepEqual([pages[99]?.heard[0]?.type, pages[99]?.heard[0]?.code], ['close', 1013]);
  window.time = 10_000;
  window.ask().port.postMessage(OPEN);
  await until(() => window.workers.length === 21);
});

test('the death of the worker is an end that the page may come back from', async () => {
  const window = new FakeWindow();
  const page = window.ask();
  page.port.postMessage(OPEN);
  await until(() => window.workers.length === 1);
  window.workers[0]?.leave();
  await until(() => page.heard.length === 1);
  assert.deepEqual(page.heard, [{ type: 'close', code: 1012, reason: 'the extension was ended' }]);
  const again = window.ask();
  again.port.postMessage(OPEN);
  await until(() => window.workers.length === 2);
});

test('an end that the worker tells is told once', async () => {
  const window = new FakeWindow();
  const page = window.ask();
  page.port.postMessage(OPEN);
  await until(() => window.workers.length === 1);
  window.workers[0]?.say({ type: 'close', code: 4403, reason: 'no' });
  window.workers[0]?.leave();
  await until(() => page.heard.length > 0);
  assert.deepEqual(page.heard, [{ type: 'close', code: 4403, reason: 'no' }]);
});

test('a script whose extension is gone does not answer', () => {
  const window = new FakeWindow();
  window.isGone = true;
  window.hear({ tabwire: 'carrier?', id: 'q1' });
  assert.equal(window.answers.length, 0);
});

test('an extension that goes after it has answered is told as gone', async () => {
  const window = new FakeWindow();
  window.isOrphaned = true;
  const page = window.ask();
  page.port.postMessage(OPEN);
  await until(() => page.heard.length === 1);
  assert.match(String(page.heard[0]?.reason), /reload/);
});
