import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Candidate, HubFinder } from '../../src/background/hub-finder';
import { HubLink } from '../../src/background/hub-link';
import type { HostAnswer } from '../../src/background/native-host';
import { FakeChrome } from '../support/fake-chrome';

new FakeChrome().install();

type Listener = (event: { code: number; reason: string }) => void;

/** A socket that nobody answers. */
class DumbSocket {
  static readonly made: DumbSocket[] = [];
  bufferedAmount = 0;
  binaryType = '';
  readonly url: string;
  readonly #closing: Listener[] = [];

  constructor(url: string) {
    this.url = url;
    DumbSocket.made.push(this);
  }

  addEventListener(type: string, listener: Listener): void {
    if (type === 'close') this.#closing.push(listener);
  }

  send(): void {}
  close(): void {}

  break(): void {
    for (const listener of this.#closing) listener({ code: 1006, reason: '' });
  }
}

Reflect.set(globalThis, 'WebSocket', DumbSocket);

/** Finds what the native host says, which a test lets answer when it wants. */
class SlowFinder extends HubFinder {
  readonly failures: number[] = [];
  readonly asked: Array<(port: number) => void>;

  constructor() {
    const asked: Array<(port: number) => void> = [];
    super({
      askHost: () =>
        new Promise<HostAnswer>((answer) => {
          const key = (port: number) => new Uint8Array(32).fill(port);
          asked.push((port) => answer({ type: 'hub', port, key: key(port), running: true }));
        }),
      keptKey: async () => undefined,
      wantedPort: () => undefined,
      listens: async () => false,
    });
    this.asked = asked;
  }

  override failed(candidate: Candidate): void {
    this.failures.push(candidate.port);
    super.failed(candidate);
  }
}

const soon = async () => {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
};

test('a search that was begun for a closed connection says nothing of the next one', async () => {
  const finder = new SlowFinder();
  const link = new HubLink({
    instanceId: 'i-1',
    version: '0',
    commands: [],
    finder,
    name: () => 'chrome',
    onCall: async () => undefined,
    onEvent: () => {},
    onResync: () => {},
    changed: () => {},
  });
  link.start();
  await soon();
  link.restart();
  await soon();
  const [first, second] = finder.asked;
  second?.(22);
  await soon();
  first?.(11);
  await soon();
  assert.deepEqual(
    DumbSocket.made.map(({ url }) => new URL(url).port),
    ['22'],
    'the closed one opens no socket',
  );
  DumbSocket.made[0]?.break();
  await soon();
  assert.deepEqual(finder.failures, [22], 'it is the second that did not take us');
});
