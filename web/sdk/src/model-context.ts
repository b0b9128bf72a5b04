/**
 * Offers the tools to agents in the browser too, where it has `modelContext`.
 *
 * The draft has it on the document, with a signal that takes tools back; earlier ones had it on the
 * navigator, with functions for that. A browser that takes none of it costs the page nothing.
 */

import { isRecord, type ToolSpec } from '@tabwire/shared';
import type { Page } from './page';

/** Runs a tool for an agent in the browser. */
export type RunTool = (name: string, input: unknown) => Promise<unknown>;

/** Registers tools; returns the function that takes them back. */
export function register(page: Page, specs: readonly ToolSpec[], run: RunTool): () => void {
  const offered = contextOf(page.document);
  const context = offered ?? contextOf(page.navigator);
  if (context === undefined) return () => {};
  const controller = new AbortController();
  const { signal } = controller;
  const undo = [() => controller.abort()];
  const tools = specs.map((spec) => ({
    ...spec,
    execute: async (input: unknown) => {
      const result = await run(spec.name, input);
      return offered ? result : { content: [{ type: 'text', text: JSON.stringify(result) }] };
    },
  }));
  if (!('registerTool' in context)) {
    call(context, 'provideContext', { tools });
    undo.push(() => call(context, 'provideContext', { tools: [] }));
  }
  for (const tool of tools) {
    const registered = call(context, 'registerTool', tool, { signal });
    undo.push(() => {
      call(context, 'unregisterTool', tool.name);
      if (isRecord(registered)) call(registered, 'unregister');
    });
  }
  return () => {
    for (const step of undo) step();
  };
}

function contextOf(owner: object): object | undefined {
  const found: unknown = 'modelContext' in owner ? owner.modelContext : undefined;
  return isRecord(found) ? found : undefined;
}

/**
 * Calls a method of an object that may have it. A name that is registered already, or a draft that
 * is not known here, is not the page's trouble.
 */
function call(owner: object, name: string, ...args: unknown[]): unknown {
  try {
    const method: unknown = Reflect.get(owner, name);
    const result: unknown = typeof method === 'function' ? method.apply(owner, args) : undefined;
    if (result instanceof Promise) result.catch(() => {});
    return result;
  } catch {
    return undefined;
  }
}
