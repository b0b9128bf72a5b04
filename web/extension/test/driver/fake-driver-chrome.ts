/**
 * As much of `chrome` as the driver touches when nothing is injected: its stores and its tabs.
 */

import { FakeStorage } from '../support/fake-chrome';

type Listener = (...args: never[]) => void;

/** An event of the browser that tests can raise. */
export class FakeEvent {
  readonly #listeners: Listener[] = [];

  addListener(listener: Listener): void {
    this.#listeners.push(listener);
  }

  raise(...args: unknown[]): void {
    for (const listener of this.#listeners) Reflect.apply(listener, undefined, args);
  }
}

interface FakeTab {
  readonly id: number;
  readonly url: string;
  readonly title: string;
  readonly frozen: boolean;
  readonly status?: 'loading' | 'complete';
}

export class FakeDriverChrome {
  readonly session = new FakeStorage();
  readonly tabs = new Map<number, FakeTab>();
  /** What was asked of the debugger, such as `attach 1` and `1 Page.enable`. */
  readonly asked: string[] = [];
  /** Tabs that some debugger is attached to, as Chrome sees it. */
  readonly attached = new Set<number>();
  /** Answers a debugger command; throws to refuse it. */
  answer: (tabId: number, method: string) => unknown = () => ({});
  /** The addresses of a tab's frames; its own if nothing is said. */
  readonly frames = new Map<number, readonly string[]>();
  /** Events by their path, such as `tabs.onRemoved`. */
  readonly events = new Map<string, FakeEvent>();

  event(path: string): FakeEvent {
    const event = this.events.get(path) ?? new FakeEvent();
    this.events.set(path, event);
    return event;
  }

  /** Makes this the global `chrome`. */
  install(): this {
    const area = (name: string, members: object = {}) =>
      new Proxy(members, {
        get: (target, key) =>
          Reflect.get(target, key) ??
          (/^on[A-Z]/.test(String(key)) ? this.event(`${name}.${String(key)}`) : undefined),
      });
    const get = async (id: number) => {
      const tab = this.tabs.get(id);
      if (tab === undefined) throw new Error(`No tab with id: ${id}.`);
      return { ...tab, active: false, discarded: false, groupId: -1 };
    };
    const getAllFrames = async ({ tabId }: { tabId: number }) =>
      (this.frames.get(tabId) ?? [this.tabs.get(tabId)?.url ?? '']).map((url, at) => ({
        url,
        frameId: at,
        parentFrameId: at - 1,
      }));
    Object.assign(globalThis, {
      chrome: {
        storage: { session: this.session },
        tabs: area('tabs', { get }),
        debugger: area('debugger', this.#debugger()),
        webNavigation: area('webNavigation', { getAllFrames }),
        webRequest: area('webRequest'),
        downloads: area('downloads'),
      },
    });
    return this;
  }

  #debugger() {
    return {
      getTargets: async () => [...this.attached].map((tabId) => ({ tabId, attached: true })),
      attach: async ({ tabId }: { tabId: number }) => {
        this.asked.push(`attach ${tabId}`);
        if (this.attached.has(tabId)) {
          throw new Error(`Another debugger is already attached to the tab with id: ${tabId}.`);
        }
        this.attached.add(tabId);
      },
      detach: async ({ tabId }: { tabId: number }) => {
        this.asked.push(`detach ${tabId}`);
        this.attached.delete(tabId);
      },
      sendCommand: async ({ tabId }: { tabId: number }, method: string) => {
        this.asked.push(`${tabId} ${method}`);
        if (!this.attached.has(tabId)) {
          throw new Error(`Debugger is not attached to the tab with id: ${tabId}.`);
        }
        return this.answer(tabId, method);
      },
    };
  }
}
