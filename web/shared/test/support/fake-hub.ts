/**
 * A hub in a few lines, and a network that cuts, loses and delays.
 *
 * Written from the protocol document and on purpose not from the client's own classes, so that
 * the two can disagree. It never drops what was not acked, and asserts that the client keeps
 * its promises: numbers without holes, gaps announced, one answer per call.
 */

import assert from 'node:assert/strict';
import { asEvent, findFault } from '../../src/check';
import {
  type FromBrowser,
  fromBrowserSchema,
  type Position,
  type ToBrowser,
} from '../../src/generated/protocol';
import { isRecord } from '../../src/values';
import type { FakeClock } from './fake-clock';
import type { FakeSocket } from './fake-socket';

type HubEvent = Extract<ToBrowser, { type: 'event' }>;

const PAGE = 100;

export class FakeHub {
  /** Numbers of the browser's messages, as they were accepted. */
  readonly accepted: number[] = [];
  /** What the browser said it has lost: up to which number, each. */
  readonly gaps: number[] = [];
  /** Ends of calls, by id. */
  readonly ends = new Map<string, string>();
  /** The wire of the connection that stands; none while the browser is away. */
  link: Wire | undefined;
  readonly #log: HubEvent[] = [];
  #received: Position = { epoch: '', sequence: 0 };
  #asked = false;
  #token = 0;

  /** Sends an event, now or after a reconnect. */
  publish(): void {
    const sequence = this.#log.length + 1;
    const event: HubEvent = { type: 'event', sequence, name: 'n', level: 'info', data: sequence };
    this.#log.push(event);
    this.link?.toBrowser(event);
  }

  /** Takes a message from a wire; one from a wire that is not the newest is ignored. */
  receive(wire: Wire, message: FromBrowser): void {
    if (message.type === 'hello') {
      this.#hello(wire, message.epoch ?? assert.fail(), message.position);
    }
    if (wire !== this.link) return;
    if ('sequence' in message) this.#numbered(message.sequence);
    else if (message.type === 'replayRequest') wire.toBrowser(this.#page(message.from.sequence));
    else if (message.type === 'replayPage') this.#replayPage(message);
    else if (message.type === 'ping') wire.toBrowser({ type: 'pong' });
    else if (message.type === 'toolResult') this.#ended(message.callId, message.result);
    else if (message.type === 'callStatus' && message.state === 'ended') {
      this.#ended(message.callId, message.result);
    }
  }

  /** Tells the browser how far it was received. */
  ack(): void {
    this.link?.toBrowser({ type: 'ack', position: this.#received });
  }

  #hello(wire: Wire, epoch: string, position: Position | undefined): void {
    this.link = wire;
    this.#asked = false;
    if (this.#received.epoch !== epoch) this.#received = { epoch, sequence: 0 };
    const from = position?.sequence ?? 0;
    wire.toBrowser({
      type: 'welcome',
      sessionId: 's_1',
      name: 'fake',
      serverVersion: '0',
      heartbeatMs: 20_000,
      epoch: 'hub',
      currentSequence: this.#log.length,
      received: this.#received,
      recovered: true,
      replay: this.#log.slice(from, from + PAGE),
      more: this.#log.length > from + PAGE,
      resumeToken: `${++this.#token}`,
    });
  }

  #numbered(sequence: number): void {
    const next = this.#received.sequence + 1;
    if (sequence < next) return;
    if (sequence === next) {
      this.accepted.push(sequence);
      this.#received = { ...this.#received, sequence };
    } else if (!this.#asked) {
      this.#asked = true;
      this.link?.toBrowser({ type: 'replayRequest', from: this.#received });
    }
  }

  #page(from: number): ToBrowser {
    const messages = this.#log.slice(from, from + PAGE);
    const upto = from + messages.length;
    const more = upto < this.#log.length;
    return { type: 'replayPage', epoch: 'hub', upto, recovered: true, messages, more };
  }

  #replayPage(page: Extract<FromBrowser, { type: 'replayPage' }>): void {
    assert.equal(page.epoch, this.#received.epoch);
    assert.ok(page.messages.length <= PAGE);
    this.#asked = false;
    if (!page.recovered) {
      assert.ok(page.upto > this.#received.sequence, 'a gap is claimed only where one is');
      this.gaps.push(page.upto);
      this.#received = { epoch: page.epoch, sequence: page.upto };
      return;
    }
    for (const message of page.messages) this.#numbered(asEvent(message).sequence);
    assert.equal(this.#received.sequence, page.upto);
    if (page.more) this.link?.toBrowser({ type: 'replayRequest', from: this.#received });
  }

  #ended(callId: string, result: unknown): void {
    const end = JSON.stringify(result);
    assert.equal(this.ends.get(callId) ?? end, end, 'a call has one end');
    this.ends.set(callId, end);
  }
}

/** What a wire does to frames. */
export interface Weather {
  readonly random: () => number;
  /** Frames take up to this long; their order stays. */
  readonly slowestMs: number;
  /** The share of numbered frames that vanish although the connection stands. */
  readonly lossy: number;
}

/** One connection between a browser's socket and the hub. */
export class Wire {
  readonly #socket: FakeSocket;
  readonly #hub: FakeHub;
  readonly #clock: FakeClock;
  readonly #weather: Weather;
  /** When the last frame in each direction arrives; later ones do not overtake it. */
  #busyUntil = { up: 0, down: 0 };
  #cut = false;

  constructor(socket: FakeSocket, hub: FakeHub, clock: FakeClock, weather: Weather) {
    this.#socket = socket;
    this.#hub = hub;
    this.#clock = clock;
    this.#weather = weather;
    socket.onSent = (message) => this.#toHub(message);
    this.#later('down', () => socket.open());
  }

  toBrowser(message: ToBrowser): void {
    if (this.#loses(message)) return;
    this.#later('down', () => this.#socket.say(message));
  }

  /** Ends the connection; what is on its way is lost. The hub may notice later, or never. */
  cut(): void {
    this.#cut = true;
    if (this.#weather.random() < 0.5 && this.#hub.link === this) this.#hub.link = undefined;
    this.#clock.after(this.#weather.random() * 50, () => this.#socket.end(1006));
  }

  #toHub(message: FromBrowser): void {
    assert.equal(findFault(fromBrowserSchema, message), undefined);
    if (this.#loses(message)) return;
    this.#later('up', () => this.#hub.receive(this, message));
  }

  #loses(message: FromBrowser | ToBrowser): boolean {
    return (
      isRecord(message) && 'sequence' in message && this.#weather.random() < this.#weather.lossy
    );
  }

  #later(direction: 'up' | 'down', run: () => void): void {
    const { random, slowestMs } = this.#weather;
    const now = this.#clock.now();
    const arrival = Math.max(this.#busyUntil[direction], now + random() * slowestMs);
    this.#busyUntil[direction] = arrival;
    this.#clock.after(arrival - now, () => {
      if (!this.#cut) run();
    });
  }
}
