/**
 * A connection to a browser's debugging port, with one session per target on it.
 *
 * Commands go out, answers and events come in. It knows no domain of the protocol but `Target`.
 */

import { WebSocket } from 'ws';
import { isRecord } from '../../src/check';
import { record, text } from './json';

// A browser that is this long without an answer is told as hanging.
const ANSWER_WITHIN_MS = 60_000;

/** Something that can be attached to: a page, a worker, a frame of another site. */
export interface Target {
  readonly id: string;
  readonly type: string;
  readonly url: string;
}

interface Waiting {
  resolve(result: Record<string, unknown>): void;
  reject(error: Error): void;
  readonly limit: NodeJS.Timeout;
}

type Listener = (session: string, method: string, params: Record<string, unknown>) => void;

export class Devtools {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Set<Listener>();
  #next = 1;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#receive(JSON.parse(String(data))));
    socket.on('close', () => this.#fail('the browser closed the connection'));
  }

  static async connect(url: string): Promise<Devtools> {
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 256 << 20 });
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return new Devtools(socket);
  }

  /** Sends a command; the empty session is the browser itself. */
  send(session: string, method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const late = () => this.#take(id)?.reject(new Error(`${method}: no answer within 60 s`));
      const limit = setTimeout(late, ANSWER_WITHIN_MS);
      this.#waiting.set(id, { resolve, reject, limit });
      const to = session === '' ? {} : { sessionId: session };
      this.#socket.send(JSON.stringify({ id, method, params, ...to }));
    });
  }

  /** Hears all events until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves with the next event of that name in that session. */
  once(session: string, wanted: string): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      const late = () => {
        stop();
        reject(new Error(`${wanted}: not within 60 s`));
      };
      const limit = setTimeout(late, ANSWER_WITHIN_MS);
      const stop = this.listen((from, method, params) => {
        if (from !== session || method !== wanted) return;
        clearTimeout(limit);
        stop();
        resolve(params);
      });
    });
  }

  /** Returns what is known of a target that may not be there yet. */
  async find(isWanted: (target: Target) => boolean): Promise<Target> {
    const target = await this.#find(isWanted);
    // Off again, so that the next search is told of all of them anew.
    await this.send('', 'Target.setDiscoverTargets', { discover: false });
    return target;
  }

  /** Opens a session on a target. */
  async attach(targetId: string): Promise<string> {
    const { sessionId } = await this.send('', 'Target.attachToTarget', { targetId, flatten: true });
    return text(sessionId);
  }

  close(): void {
    this.#socket.close();
  }

  #find(isWanted: (target: Target) => boolean): Promise<Target> {
    return new Promise((resolve, reject) => {
      const done = (settle: () => void) => {
        clearTimeout(limit);
        stop();
        settle();
      };
      const late = () => done(() => reject(new Error('the target did not come within 60 s')));
      const limit = setTimeout(late, ANSWER_WITHIN_MS);
      const stop = this.listen((_, method, { targetInfo }) => {
        if (method !== 'Target.targetCreated' && method !== 'Target.targetInfoChanged') return;
        const { targetId, type, url } = record(targetInfo);
        const target = { id: text(targetId), type: text(type), url: text(url) };
        if (isWanted(target)) done(() => resolve(target));
      });
      // Tells of those that are there already, too.
      this.send('', 'Target.setDiscoverTargets', { discover: true }).catch((error: Error) =>
        done(() => reject(error)),
      );
    });
  }

  #receive(message: unknown): void {
    if (!isRecord(message)) return;
    if (typeof message.id !== 'number') {
      const session = text(message.sessionId);
      for (const listener of [...this.#listeners]) {
        listener(session, text(message.method), record(message.params));
      }
      return;
    }
    const waiting = this.#take(message.id);
    if (message.error === undefined) waiting?.resolve(record(message.result));
    else waiting?.reject(new Error(text(record(message.error).message)));
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.limit);
    return waiting;
  }

  #fail(reason: string): void {
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(new Error(reason));
  }
}
