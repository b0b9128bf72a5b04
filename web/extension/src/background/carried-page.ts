/**
 * One page that is carried: a port to the page on one side, a socket to the hub on the other.
 *
 * The page says hello as it would to the hub. Here the opening ends: the hub proves itself, then we
 * do, with our own key and the origin that the browser names; the page's introduction goes with
 * the proof. From then on frames pass unread both ways. Whether the page may connect at all, its
 * owner decides.
 */

import {
  type Challenge,
  isInstanceId,
  Prover,
  type Socket,
  type SocketConstructor,
  SUBPROTOCOL,
  socketUrl,
} from '@tabwire/shared';
import { type FromPage, isFromPage, type ToPage } from '../carriage';
import { isRecord, isText } from '../check';
import type { Refusal } from '../web-apps';
import { hubAddress } from './hub-finder';
import type { Hub } from './hub-link';

/** The hub's own limits; what is larger would only cost the way there. */
const LARGEST_HELLO = 1024 * 1024;
const LARGEST_FRAME = 16 * 1024 * 1024;
/** Frames of one page in a second; states are pushed at 20. */
const MOST_PER_SECOND = 1_000;
/** What waits to be written to the hub. */
const MOST_UNWRITTEN = 32 * 1024 * 1024;
/** A close frame holds 123 bytes of reason. */
const LONGEST_REASON = 40;
/** What only peers can do that speak to the hub themselves: compressed pages are no text. */
const OURS_ALONE = ['deflate'];

const UNPROVEN: Fault = { code: 4403, reason: 'the hub could not prove itself' };

/** Who connects pages, and with what. */
export interface Vehicle {
  readonly instanceId: string;
  readonly hub: Hub;
  readonly webSocket: SocketConstructor;
}

export interface PageOwner {
  /** The page wants a connection. */
  wants(page: CarriedPage): void;
  ended(page: CarriedPage): void;
}

/** The little that is used of a port. */
export type PagePort = Pick<
  chrome.runtime.Port,
  'postMessage' | 'disconnect' | 'onMessage' | 'onDisconnect' | 'sender'
>;

type Phase =
  /** It has not said what it wants. */
  | { readonly type: 'silent' }
  /** It waits for a connection. */
  | { readonly type: 'waiting'; readonly instanceId: string }
  /** A socket is being opened. */
  | { readonly type: 'opening'; readonly link: PageLink }
  /** The hub is there, and the page's hello is awaited. */
  | { readonly type: 'greeting'; readonly instanceId: string; readonly link: PageLink }
  /** The hub proves itself, then we do. */
  | { readonly type: 'proving'; readonly hello: Fields; readonly link: PageLink }
  | { readonly type: 'carrying'; readonly link: PageLink }
  | { readonly type: 'ended' };

type Fields = Readonly<Record<string, unknown>>;

type Greeting = Extract<Phase, { type: 'greeting' }>;
type Proving = Extract<Phase, { type: 'proving' }>;

interface Fault {
  readonly code: number;
  readonly reason: string;
}

interface PageLink {
  readonly socket: Socket;
  readonly prover: Prover;
  readonly vehicle: Vehicle;
}

export class CarriedPage {
  /** Where the page comes from, by the browser's word; none where it is no web page. */
  readonly origin: string | undefined;
  readonly #port: PagePort;
  #owner: PageOwner | undefined;
  #phase: Phase = { type: 'silent' };
  #second = 0;
  #inSecond = 0;

  constructor(port: PagePort) {
    this.#port = port;
    this.origin = originOf(port.sender);
    port.onMessage.addListener((message: unknown) => {
      if (isFromPage(message)) this.#hear(message);
    });
    port.onDisconnect.addListener(() => this.#leave());
  }

  /** Gives it to who decides about it; what it wanted before is told now. */
  attach(owner: PageOwner): void {
    this.#owner = owner;
    if (this.#phase.type === 'waiting') owner.wants(this);
  }

  get isWaiting(): boolean {
    return this.#phase.type === 'waiting';
  }

  get hasEnded(): boolean {
    return this.#phase.type === 'ended';
  }

  /** Opens the socket that the page waits for. */
  connect(vehicle: Vehicle): void {
    const { origin } = this;
    if (this.#phase.type !== 'waiting' || origin === undefined) return;
    const { instanceId } = this.#phase;
    const { hub, instanceId: carrier, webSocket } = vehicle;
    const dialled = `ws://${hubAddress(hub.port)}`;
    const carried = { carrier, origin };
    const prover = new Prover({ key: hub.key }, { instanceId, dialled, carried });
    const socket = new webSocket(socketUrl(dialled, instanceId), [SUBPROTOCOL]);
    const link = { socket, prover, vehicle };
    this.#phase = { type: 'opening', link };
    socket.addEventListener('open', () => {
      if (this.#phase.type !== 'opening') return;
      this.#phase = { type: 'greeting', instanceId, link };
      this.#tell({ type: 'open' });
    });
    socket.addEventListener('message', ({ data }) => this.#hearHub(data));
    socket.addEventListener('close', ({ code, reason }) => this.#hubLeft(code, reason));
    socket.addEventListener('error', () => {});
  }

  /** Ends it with a word that the SDK knows; the page may ask again. */
  refuse({ word, message }: Refusal): void {
    const bye = { type: 'bye', code: word, retry: true, message };
    this.#tell({ type: 'frame', data: JSON.stringify(bye) });
    this.end(4403, message);
  }

  /** Ends both sides. */
  end(code: number, reason: string): void {
    if (this.hasEnded) return;
    this.#tell({ type: 'close', code, reason });
    this.#port.disconnect();
    this.#leave();
  }

  #hear(message: FromPage): void {
    switch (message.type) {
      case 'open':
        this.#open(message.instanceId);
        return;
      case 'frame':
        this.#take(message.data);
        return;
      case 'close':
        this.#port.disconnect();
        this.#leave(message);
        return;
      default:
        message satisfies never;
    }
  }

  #open(instanceId: string): void {
    // The socket's address is made of it.
    if (this.#phase.type !== 'silent' || !isInstanceId(instanceId)) {
      this.end(4500, 'a page says open once, with an instance id');
      return;
    }
    this.#phase = { type: 'waiting', instanceId };
    this.#owner?.wants(this);
  }

  #take(data: string): void {
    const phase = this.#phase;
    const fault = this.#faultOf(data);
    if (fault !== undefined) this.end(fault.code, fault.reason);
    else if (phase.type === 'greeting') this.#greet(phase, data);
    else if (phase.type === 'carrying') phase.link.socket.send(data);
  }

  /** Returns why a frame is not passed on. */
  #faultOf(data: string): Fault | undefined {
    const phase = this.#phase;
    const isHello = phase.type === 'greeting';
    if (this.#isTooFast()) {
      return { code: 4413, reason: `over ${MOST_PER_SECOND} frames in a second` };
    }
    if (!isHello && phase.type !== 'carrying') {
      return { code: 4500, reason: 'a frame before its turn' };
    }
    if (data.length > (isHello ? LARGEST_HELLO : LARGEST_FRAME)) {
      return { code: 1009, reason: `a ${isHello ? 'hello' : 'frame'} is too large` };
    }
    if (phase.link.socket.bufferedAmount + data.length > MOST_UNWRITTEN) {
      return { code: 4413, reason: 'the hub does not take in what the page says' };
    }
    return undefined;
  }

  /** Says to the hub who wants to connect, and nothing more until the hub has proven itself. */
  #greet({ instanceId, link }: Greeting, data: string): void {
    const hello = parse(data);
    if (hello?.type !== 'hello' || hello.instanceId !== instanceId || hello.kind !== 'app') {
      this.end(4500, 'the first frame is the hello of an app');
      return;
    }
    this.#phase = { type: 'proving', hello, link };
    const { origin } = this;
    const { nonce, address } = link.prover;
    const { instanceId: carrier } = link.vehicle;
    const greeting = { type: 'hello', instanceId, kind: 'app', nonce, address, carrier, origin };
    link.socket.send(JSON.stringify(greeting));
  }

  #hearHub(data: unknown): void {
    const phase = this.#phase;
    if (!isText(data)) this.end(4400, 'the hub sent bytes');
    else if (phase.type === 'carrying') this.#tell({ type: 'frame', data });
    else if (phase.type === 'proving') this.#hearProof(phase, parse(data));
  }

  /** Whoever has proven nothing cannot keep the page away for good. */
  #hubLeft(code: number, reason: string): void {
    this.end(this.#phase.type === 'carrying' ? code : 1006, reason || 'the hub is gone');
  }

  #hearProof(phase: Proving, said: Fields | undefined): void {
    if (said?.type === 'challenge' && isText(said.nonce) && isText(said.proof)) {
      void this.#prove(phase, { nonce: said.nonce, proof: said.proof });
      return;
    }
    // Whoever is there has proven nothing: its words are told, its wish that we stay away is not.
    this.end(UNPROVEN.code, isText(said?.message) ? said.message : UNPROVEN.reason);
  }

  async #prove(phase: Proving, challenge: Challenge): Promise<void> {
    const { hello, link } = phase;
    const proven = await link.prover.answer(challenge).catch(() => undefined);
    // A second challenge finds the first one answered.
    if (this.#phase !== phase) return;
    if (proven === undefined) {
      this.end(UNPROVEN.code, UNPROVEN.reason);
      return;
    }
    this.#phase = { type: 'carrying', link };
    const { proof } = proven;
    link.socket.send(JSON.stringify({ type: 'prove', proof, ...introductionOf(hello) }));
  }

  #isTooFast(): boolean {
    const second = Math.floor(performance.now() / 1000);
    this.#inSecond = second === this.#second ? this.#inSecond + 1 : 1;
    this.#second = second;
    return this.#inSecond > MOST_PER_SECOND;
  }

  #tell(message: ToPage): void {
    if (!this.hasEnded) this.#port.postMessage(message);
  }

  #leave({ code, reason = '' }: { code?: number; reason?: string } = {}): void {
    const phase = this.#phase;
    if (phase.type === 'ended') return;
    this.#phase = { type: 'ended' };
    if ('link' in phase) closeSocket(phase.link.socket, code, reason);
    this.#owner?.ended(this);
  }
}

/** Only a page's main frame is carried; the browser says whose it is. */
export function originOf(sender: chrome.runtime.MessageSender | undefined): string | undefined {
  if (sender?.tab === undefined || sender.frameId !== 0 || !isText(sender.origin)) return undefined;
  return /^https?:\/\/[^/]+$/.test(sender.origin) ? sender.origin : undefined;
}

/** What of a page's hello goes with the proof; the hub looks at each of it. */
function introductionOf(hello: Fields): Fields {
  const { name, version, capabilities, epoch, position, resumeToken } = hello;
  const carried = Array.isArray(capabilities)
    ? capabilities.filter((capability) => !OURS_ALONE.includes(capability))
    : capabilities;
  return { name, version, capabilities: carried, epoch, position, resumeToken };
}

function parse(data: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A browser lets us close with few codes; the hub treats all others like a lost socket. */
function closeSocket(socket: Socket, code: number | undefined, reason: string): void {
  const isOurs = code === 1000 || (code !== undefined && code >= 3000 && code <= 4999);
  if (isOurs) socket.close(code, reason.slice(0, LONGEST_REASON));
  else socket.close();
}
