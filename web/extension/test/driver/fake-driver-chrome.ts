/**
 * As much of `chrome` as the driver touches: its stores, its tabs, the debugger, and a content
 * script that answers as a test says.
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
  readonly incognito?: boolean;
}

/** A frame, as the browser tells it. */
export interface FakeFrame {
  readonly url: string;
  readonly frameId: number;
  readonly parentFrameId: number;
  readonly documentId: string;
}

type Target = { readonly tabId: number; readonly documentIds?: readonly string[] };

export class FakeDriverChrome {
  readonly session = new FakeStorage();
  readonly tabs = new Map<number, FakeTab>();
  /** What was asked of the debugger: `attach 1`, `1 Page.enable`, of a frame `1/frame Page.enable`. */
  readonly asked: string[] = [];
  /** Tabs that some debugger is attached to, as Chrome sees it. */
  readonly attached = new Set<number>();
  /** Answers a debugger command; throws to refuse it. */
  answer: (tabId: number, method: string) => unknown = () => ({});
  /** A tab's frames, or only their addresses; its own if nothing is said. */
  readonly frames = new Map<number, ReadonlyArray<FakeFrame | string>>();
  /** Answers a call of the content script; what it throws is why it could not be made. */
  content: (method: string, args: readonly unknown[], target: Target) => unknown = () => null;
  /** Events by their path, such as `tabs.onRemoved`. */
  readonly events = new Map<string, FakeEvent>();

  event(path: string): FakeEvent {
    const event = this.events.get(path) ?? new FakeEvent();
    this.events.set(path, event);
    return event;
  }

  /** Tells a tab as it is; tests may do something while it is asked for. */
  getTab = async (id: number): Promise<object> => {
    const tab = this.tabs.get(id);
    if (tab === undefined) throw new Error(`No tab with id: ${id}.`);
    return { incognito: false, ...tab, active: false, discarded: false, groupId: -1 };
  };

  /** Makes this the global `chrome`. */
  install(): this {
    const area = (name: string, members: object = {}) =>
      new Proxy(members, {
        get: (target, key) =>
          Reflect.get(target, key) ??
          (/^on[A-Z]/.test(String(key)) ? this.event(`${name}.${String(key)}`) : undefined),
      });
    const getAllFrames = async ({ tabId }: { tabId: number }) =>
      (this.frames.get(tabId) ?? [this.tabs.get(tabId)?.url ?? '']).map((frame, at) =>
        typeof frame === 'string' ? { url: frame, frameId: at, parentFrameId: at - 1 } : frame,
      );
    Object.assign(globalThis, {
      chrome: {
        storage: { session: this.session },
        tabs: area('tabs', { get: (id: number) => this.getTab(id) }),
        runtime: { getManifest: () => ({ version: '0' }) },
        scripting: {
          executeScript: async ({ target, args }: { target: Target; args: unknown[] }) => {
            const [, method, rest] = args;
            const value = await this.content(String(method), [rest].flat(), target);
            const [documentId = 'top'] = target.documentIds ?? [];
            return [{ frameId: 0, documentId, result: { value } }];
          },
        },
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
      sendCommand: async (
        { tabId, sessionId }: { tabId: number; sessionId?: string },
        method: string,
      ) => {
        this.asked.push(`${tabId}${sessionId === undefined ? '' : `/${sessionId}`} ${method}`);
        if (!this.attached.has(tabId)) {
          throw new Error(`Debugger is not attached to the tab with id: ${tabId}.`);
        }
        const answer = this.answer(tabId, method);
        // Asked of every tab that is attached to.
        if (method !== 'Page.getFrameTree') return answer;
        return { frameTree: { frame: {} }, ...Object(answer) };
      },
    };
  }
}
