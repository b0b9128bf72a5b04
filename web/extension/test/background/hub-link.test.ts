import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Candidate, HubFinder } from '../../src/background/hub-finder';
import { HubLink } from '../../src/background/hub-link';
import type { HostAnswer } from '../../src/background/native-host';
import { FakeChrome } from '../support/fake-chrome';

new FakeChrome().install();

type Listener = (event: { code: number; reason: string }) => void;

/** A socket that nobody answers, until it breaks. */
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

  break(code = 1006, reason = ''): void {
    for (const listener of this.#closing) listener({ code, reason });
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

function linkTo(finder: HubFinder, found: () => Promise<void> = async () => {}): HubLink {
  return new HubLink({
    instanceId: 'i-1',
    version: '0',
    commands: [],
    finder,
    name: () => 'chrome',
    found,
    onCall: async () => undefined,
    onEvent: () => {},
    onResync: () => {},
    changed: () => {},
  });
}

test('a search that was begun for a closed connection says nothing of the next one', async () => {
  const finder = new SlowFinder();
  const link = linkTo(finder);
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

test('the hub is dialled by the number of this machine, which is nobody else’s name', async () => {
  const finder = new SlowFinder();
  const link = linkTo(finder);
  const before = DumbSocket.made.length;
  link.start();
  await soon();
  finder.asked[0]?.(33);
  await soon();
  const urls = DumbSocket.made.slice(before).map(({ url }) => url);
  assert.deepEqual(urls, ['ws://127.0.0.1:33/session/i-1']);
});

test('what a hub says of the address, or of an old extension, is shown as it comes', async () => {
  for (const reason of [
    'you have dialled loopback:44 and this hub is at loopback:8765',
    'this extension is too old for the hub; update it',
  ]) {
    const finder = new SlowFinder();
    const link = linkTo(finder);
    link.start();
    await soon();
    finder.asked[0]?.(44);
    await soon();
    DumbSocket.made.at(-1)?.break(4403, reason);
    await soon();
    assert.deepEqual(link.state, { type: 'waiting', reason });
  }
});

test('nothing is dialled before what a hub may know has been judged by where it may be', async () => {
  const finder = new SlowFinder();
  const judged: string[] = [];
  let go = () => {};
  const link: HubLink = linkTo(finder, () => {
    judged.push([55, 8765, 8775].map((port) => link.nextPorts.includes(port)).join());
    return new Promise((resolve) => {
      go = resolve;
    });
  });
  const before = DumbSocket.made.length;
  link.start();
  await soon();
  finder.asked[0]?.(55);
  await soon();
  assert.deepEqual(judged, ['true,true,true']);
  assert.equal(DumbSocket.made.length, before);
  go();
  await soon();
  assert.equal(DumbSocket.made.length, before + 1);
});
