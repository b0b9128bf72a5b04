/**
 * Ports as the browser gives them to a worker and to content scripts, both ends in the test's hand.
 */

import { isRecord } from '../../src/check';

type Listener<T> = (value: T) => void;

/** As much of the browser's events as is used. */
class FakeEvent<T> {
  readonly #listeners = new Set<Listener<T>>();
  readonly addListener = (listener: Listener<T>) => void this.#listeners.add(listener);

  tell(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}

/** One end of a port; the test is the other one. */
export class FakePort {
  readonly onMessage = new FakeEvent<unknown>();
  readonly onDisconnect = new FakeEvent<undefined>();
  /** What the code under test said. */
  readonly said: Record<string, unknown>[] = [];
  readonly sender: unknown;
  isOpen = true;

  constructor(sender?: unknown) {
    this.sender = sender;
  }

  postMessage(message: unknown): void {
    if (!this.isOpen) throw new Error('Attempting to use a disconnected port object');
    if (isRecord(message)) this.said.push(message);
  }

  disconnect(): void {
    this.isOpen = false;
  }

  /** The other end says something. */
  say(message: unknown): void {
    this.onMessage.tell(message);
  }

  /** The other end goes. */
  leave(): void {
    this.isOpen = false;
    this.onDisconnect.tell(undefined);
  }

  /** The frames that were said, parsed. */
  get frames(): Record<string, unknown>[] {
    const frames = this.said.filter(({ type }) => type === 'frame');
    return frames.map(({ data }) => JSON.parse(String(data)));
  }

  /** What was said last. */
  get last(): Record<string, unknown> | undefined {
    return this.said.at(-1);
  }
}

/** A port of a page's main frame, as the worker gets it. */
export function pagePort(origin: unknown = 'https://app.example', frameId = 0): FakePort {
  return new FakePort({ id: 'us', tab: { id: 7 }, frameId, origin, url: `${origin}/page` });
}

/** Gives a fake out as the real thing, of which it has what is used. */
export function asPort(port: FakePort): chrome.runtime.Port {
  return port as unknown as chrome.runtime.Port;
}
