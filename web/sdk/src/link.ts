/**
 * A page's link to the hub: wires state, tools and events to the reconnecting client.
 *
 * In come the app's options and wishes; out go statuses in words that a page can show. Everything
 * about the wire is in `@tabwire/shared`; what a browser allows is found out in `diagnosis.ts`.
 */

import {
  type Call,
  type CallContext,
  type Clock,
  connect,
  type Status as Wire,
} from '@tabwire/shared';
import { type Diagnosis, diagnose, explain, isRefusal } from './diagnosis';
import { Line } from './line';
import { register } from './model-context';
import type { Link, Options, Status, Tool } from './options';
import { hubOf, type Page } from './page';
import { PageMemory } from './page-memory';
import { failure, Toolbox } from './toolbox';

/** Connects a page; the clock is the platform's unless a test turns it. */
export function open(options: Options, page: Page, clock: Clock): Link {
  return new PageLink(options, page, clock);
}

class PageLink implements Link {
  readonly #options: Options;
  readonly #page: Page;
  readonly #line: Line;
  readonly #memory: PageMemory;
  readonly #toolbox: Toolbox;
  readonly #client: ReturnType<typeof connect>;
  readonly #unsubscribe: (() => void) | undefined;
  /** Read when it is written, so that many changes at once are one look at the app. */
  readonly #state: { toJSON(): unknown } | undefined;
  #status: Status = { type: 'connecting' };
  #why: Diagnosis | undefined;
  #isLooking = false;
  #isClosed = false;
  #unregister = () => {};

  constructor(options: Options, page: Page, clock: Clock) {
    const { commands = {}, tools = [], events = {}, state, manifest, hub, ...rest } = options;
    this.#options = options;
    this.#page = page;
    this.#toolbox = new Toolbox(commands);
    this.#toolbox.tools = tools;
    this.#line = new Line(page, hubOf(page, hub), clock);
    this.#line.failed = () => void this.#look();
    this.#memory = new PageMemory(page, options.name);
    const read = typeof state === 'object' ? () => state.get() : state;
    this.#state = read && { toJSON: read };
    this.#client = connect({
      ...rest,
      url: () => this.#line.find(),
      webSocket: this.#line.webSocket,
      kind: 'app',
      clock,
      memory: this.#memory,
      capabilities: manifest === undefined ? [] : [`manifest:${manifest}`],
      ...(read && { onState: read }),
      onCall: (call, context) => this.#call(call, context),
      onEvent: ({ name, data }) => {
        for (const key of [name, '*']) if (Object.hasOwn(events, key)) events[key]?.(data, name);
      },
      onStatus: (status) => this.#follow(status),
    });
    this.#announce();
    this.changed();
    if (typeof state === 'object') this.#unsubscribe = state.subscribe(() => this.changed());
  }

  get status(): Status {
    return this.#status;
  }

  changed(): void {
    if (this.#state !== undefined) this.#client.pushState(this.#state);
  }

  emit(name: string, data?: unknown): void {
    this.#client.sendEvent(name, data);
  }

  setTools(tools: readonly Tool[]): void {
    if (this.#isClosed) return;
    this.#toolbox.tools = tools;
    this.#announce();
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
    this.#unregister();
    this.#client.close();
    this.#memory.close();
  }

  #announce(): void {
    this.#client.setTools(this.#toolbox.specs);
    this.#unregister();
    this.#unregister = register(this.#page, this.#toolbox.specs, (name, input) => {
      const { signal } = new AbortController();
      return this.#run(name, input, { signal, progress: () => {} });
    });
  }

  async #call(call: Call, context: CallContext): Promise<unknown> {
    if (call.type !== 'callTool') throw failure('unsupported', 'an app has no tabs');
    return this.#run(call.toolName, call.args, context);
  }

  async #run(name: string, args: unknown, context: CallContext): Promise<unknown> {
    try {
      return await this.#toolbox.run(name, args, context);
    } finally {
      if (this.#toolbox.acts(name)) this.changed();
      // Whoever reads the state after the answer finds what the call has done.
      this.#client.flushState();
    }
  }

  #follow(status: Wire): void {
    switch (status.type) {
      case 'connecting':
        this.#tell({ type: 'connecting', ...this.#why });
        return;
      case 'connected':
        this.#why = undefined;
        this.#tell({ type: 'connected', session: status.name });
        return;
      case 'waiting':
        this.#lookWhy(status.reason);
        this.#tell({ ...this.#trouble(), retryInMs: status.retryInMs });
        return;
      case 'stopped':
        this.#unsubscribe?.();
        this.#why = explain(this.#line.word, status.reason, false);
        this.#tell(this.#isClosed ? { type: 'closed' } : { type: 'refused', ...this.#why });
        return;
      default:
        status satisfies never;
    }
  }

  #trouble(): Status {
    return { type: isRefusal(this.#why?.reason) ? 'refused' : 'waiting', ...this.#why };
  }

  #lookWhy(said: string): void {
    const { wasOpen, isCarried, word } = this.#line;
    if (wasOpen || word) this.#why = explain(word, said, true);
    else if (isCarried)
      this.#why = { reason: 'hub_not_running', message: `the extension: ${said}` };
    else void this.#look();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const why = await diagnose(this.#page, this.#line.hub);
    this.#isLooking = false;
    const { type } = this.#status;
    if (this.#isClosed || type === 'connected') return;
    this.#why = why;
    // `refused` may be a hub that was just starting: the page's own way stays the better one.
    this.#line.needsCarrier ||= isRefusal(why.reason) && why.reason !== 'refused';
    const { retryInMs } = this.#status;
    const rest = type === 'connecting' ? { type, ...why } : this.#trouble();
    this.#tell({ ...rest, ...(retryInMs !== undefined && { retryInMs }) });
  }

  #tell(status: Status): void {
    this.#status = status;
    this.#options.onStatus?.(status);
  }
}
