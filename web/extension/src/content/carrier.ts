/**
 * Answers a page that asks for a carrier, and passes messages on between it and the worker.
 *
 * Stands in pages of hosts that the user has allowed, and does nothing unless the worker says that
 * the page's very origin is allowed, nor until the page asks. It decides nothing: whether the page
 * may connect, and where it comes from, the worker knows from the browser. When the worker dies, the
 * page's connection ends in a way that lets it come back, which starts the worker again.
 */

import { CARRIER, isFromPage, MAY_CARRY, type ToPage } from '../carriage';
import { isRecord, isText } from '../check';

/** The little that is used of a window. */
export interface AskingWindow {
  addEventListener(type: 'message', listener: (event: Asked) => void): void;
  removeEventListener(type: 'message', listener: (event: Asked) => void): void;
  postMessage(message: unknown, targetOrigin: string, transfer: Transferable[]): void;
}

type Asked = Pick<MessageEvent, 'data' | 'source'>;

/** The little that is used of a port to the worker. */
export type WorkerPort = Pick<
  chrome.runtime.Port,
  'postMessage' | 'disconnect' | 'onMessage' | 'onDisconnect'
>;

/** Ends that the page may come back from. */
const WORKER_DIED: ToPage = { type: 'close', code: 1012, reason: 'the extension was ended' };
const ORPHANED: ToPage = {
  type: 'close',
  code: 1012,
  reason: 'the extension was replaced; reload',
};

const TOO_OFTEN: ToPage = { type: 'close', code: 1013, reason: 'asked too often; wait a little' };

const LONGEST_ID = 64;
/** Ports to the worker that one document may open in a time: each starts it if it sleeps. */
const MOST_OPENED = 20;
const OPENED_IN_MS = 10_000;

/** The way to the worker. */
export interface Worker {
  /** Whether there is still an extension: one that was removed or replaced leaves its scripts. */
  isThere(): boolean;
  /** Asks whether pages of this origin may connect. */
  allows(): Promise<boolean>;
  /** Opens a port, which starts the worker; throws where there is none any more. */
  connect(): WorkerPort;
}

/** Where a script notes that it stands: the world that scripts of one extension share in a page. */
export interface Place {
  /** Whether it answers the page, once that is known. */
  tabwireCarrier?: Promise<boolean> | undefined;
}

/** Answers the page from now on, unless an earlier script of ours does. */
export function stand(place: Place, window: AskingWindow, worker: Worker): void {
  const begin = () => answerPages(window, worker);
  // One that was told no is of no use when the origin is allowed later.
  const again = place.tabwireCarrier?.then((stands) => stands || begin());
  place.tabwireCarrier = again ?? begin();
}

/** Listens for a page that asks; returns whether it may have an answer. */
export async function answerPages(
  window: AskingWindow,
  worker: Worker,
  now: () => number = () => performance.now(),
): Promise<boolean> {
  const turnstile = new Turnstile(now);
  const allowed = worker.allows().catch(() => false);
  const listen = async ({ data, source }: Asked) => {
    if (source !== window || !isRecord(data) || data.tabwire !== 'carrier?') return;
    if (!isText(data.id) || data.id.length > LONGEST_ID) return;
    // A page may well ask before that is known.
    if (!(await allowed) || !worker.isThere()) return;
    const { port1, port2 } = new MessageChannel();
    relay(port1, worker, turnstile);
    window.postMessage({ tabwire: 'carrier!', id: data.id }, '/', [port2]);
  };
  window.addEventListener('message', listen);
  if (await allowed) return true;
  window.removeEventListener('message', listen);
  return false;
}

/** Our own worker. */
export const ownWorker: Worker = {
  isThere: () => chrome.runtime?.id !== undefined,
  allows: async () => (await chrome.runtime.sendMessage(MAY_CARRY)) === true,
  connect: () => {
    const port = chrome.runtime.connect({ name: CARRIER });
    // Looked at, or the browser tells the page's console of an end that is no fault.
    port.onDisconnect.addListener(() => void chrome.runtime?.lastError);
    return port;
  },
};

/** Lets a document open so many ports in a time, whether it may connect or not. */
class Turnstile {
  readonly #now: () => number;
  #opened: number[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  pass(): boolean {
    const since = this.#now() - OPENED_IN_MS;
    this.#opened = this.#opened.filter((at) => at > since);
    if (this.#opened.length >= MOST_OPENED) return false;
    this.#opened.push(this.#now());
    return true;
  }
}

function relay(page: MessagePort, worker: Worker, turnstile: Turnstile): void {
  let port: WorkerPort | undefined;
  let isOver = false;
  const tell = (message: ToPage) => {
    if (isOver) return;
    page.postMessage(message);
    if (message.type !== 'close') return;
    isOver = true;
    page.close();
  };
  const open = () => {
    const opened = worker.connect();
    opened.onMessage.addListener((message: ToPage) => tell(message));
    opened.onDisconnect.addListener(() => tell(WORKER_DIED));
    return opened;
  };
  page.onmessage = ({ data }) => {
    if (isOver || !isFromPage(data)) return;
    if (port === undefined && !turnstile.pass()) {
      tell(TOO_OFTEN);
      return;
    }
    try {
      port ??= open();
      port.postMessage(data);
    } catch {
      tell(ORPHANED);
      return;
    }
    if (data.type !== 'close') return;
    isOver = true;
    port.disconnect();
    page.close();
  };
}
