/**
 * The tools that a document declares (WebMCP), as its isolated world sees them: lists, calls and
 * watches them.
 *
 * The browser itself keeps them in `document.modelContext`; what scripts put there in its place is
 * not visible here, see `driver/page/page-tools.ts`. Whatever comes from the page is cut to size; what
 * fits its schema is for others to check.
 */

import type { DeclaredTool, DeclaredTools, ToolOutcome } from './api';
import type { Refs } from './refs';

// A form that waits for its user has answered nothing by then; a tool that works has.
const WAITING_AFTER_MS = 500;
// Chrome never answers for some frames of a page that loads while the machine is busy.
const FRAME_ANSWERS_WITHIN_MS = 1_000;
const MOST_TOOLS = 64;
const LONGEST_DESCRIPTION = 1_000;
const LARGEST_SCHEMA = 8_192;

interface ModelContext extends EventTarget {
  getTools(): Promise<readonly Declared[]>;
  executeTool(
    tool: Declared,
    input: unknown,
    options: { readonly signal: AbortSignal },
  ): Promise<unknown>;
}

interface Declared {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly annotations?: { readonly readOnlyHint?: boolean } | null;
}

export class PageTools {
  readonly #refs: Refs;
  readonly #running = new Map<string, AbortController>();
  #isWatching = false;
  /** Whether the browser was asked for a frame's tools and has not answered in time. */
  #isSilent = false;

  constructor(refs: Refs) {
    this.#refs = refs;
  }

  /** Returns what the document declares; nothing where the browser keeps no tools. */
  async list(): Promise<DeclaredTools> {
    const context = modelContext();
    const { origin } = globalThis;
    if (context === undefined) return { isRefused: false, origin, tools: [] };
    this.#watch(context);
    const tools = await this.#declaredIn(context);
    if (tools === undefined) return { isRefused: true, origin, tools: [] };
    return { isRefused: false, origin, tools: tools.slice(0, MOST_TOOLS).map(describe) };
  }

  async call(callId: string, name: string, input: unknown): Promise<ToolOutcome> {
    const context = modelContext();
    const tools = context && (await this.#declaredIn(context));
    const tool = tools?.find((declared) => declared.name === name);
    if (context === undefined || tool === undefined) return { type: 'unknown' };
    const controller = new AbortController();
    this.#running.set(callId, controller);
    const work = context
      .executeTool(tool, input, { signal: controller.signal })
      .then(done, failed)
      .finally(() => this.#running.delete(callId));
    const form = formOf(name);
    return form === undefined ? work : Promise.race([work, this.#waiting(form)]);
  }

  cancel(callId: string): void {
    this.#running.get(callId)?.abort();
  }

  /** Ends everything that a call has begun and nobody waits for any more. */
  retire(): void {
    for (const controller of this.#running.values()) controller.abort();
  }

  #waiting(form: HTMLFormElement): Promise<ToolOutcome> {
    const button = form.querySelector<HTMLElement>('button:not([type=button]), [type=submit]');
    const ref = this.#refs.of(button ?? form);
    return after(WAITING_AFTER_MS, { type: 'waiting', ref });
  }

  /**
   * Returns what a document declares; nothing of a frame to which its page gives no right, or about
   * which the browser says nothing. A late answer is told as a change.
   */
  async #declaredIn(context: ModelContext): Promise<readonly Declared[] | undefined> {
    // A page itself always has the right.
    if (window === window.top) return context.getTools();
    if (this.#isSilent) return undefined;
    // Versions of Chrome differ in what they throw where there is no right.
    const answer = context.getTools().catch(() => undefined);
    const isAnswered = answer.then(() => true);
    if (await Promise.race([isAnswered, after(FRAME_ANSWERS_WITHIN_MS, false)])) return answer;
    this.#isSilent = true;
    answer.then(() => {
      this.#isSilent = false;
      tellChange();
    });
    return undefined;
  }

  #watch(context: ModelContext): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    context.addEventListener('toolchange', tellChange);
  }
}

function tellChange(): void {
  // Without an id the extension was removed or reloaded: this script is an orphan.
  if (!chrome.runtime?.id) return;
  chrome.runtime.sendMessage({ type: 'toolsChanged' }).catch(() => {});
}

function after<T>(ms: number, value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), ms));
}

function modelContext(): ModelContext | undefined {
  const found: unknown = Reflect.get(document, 'modelContext');
  return isModelContext(found) ? found : undefined;
}

function isModelContext(value: unknown): value is ModelContext {
  if (!(value instanceof EventTarget)) return false;
  return ['getTools', 'executeTool'].every(
    (method) => typeof Reflect.get(value, method) === 'function',
  );
}

/** Returns the form that declares a tool and leaves submitting to the user. */
function formOf(name: string): HTMLFormElement | undefined {
  const forms = document.querySelectorAll<HTMLFormElement>('form[toolname]');
  return [...forms].find(
    (form) => form.getAttribute('toolname') === name && !form.hasAttribute('toolautosubmit'),
  );
}

function describe(tool: Declared): DeclaredTool {
  const schema = JSON.stringify(tool.inputSchema ?? null);
  return {
    name: String(tool.name),
    description: String(tool.description || tool.title || '').slice(0, LONGEST_DESCRIPTION),
    ...(schema.length <= LARGEST_SCHEMA ? { inputSchema: schema } : {}),
    readOnly: tool.annotations?.readOnlyHint === true,
  };
}

function done(value: unknown): ToolOutcome {
  return { type: 'done', value: value === undefined || value === null ? null : String(value) };
}

function failed(error: unknown): ToolOutcome {
  return { type: 'failed', message: error instanceof Error ? error.message : String(error) };
}
