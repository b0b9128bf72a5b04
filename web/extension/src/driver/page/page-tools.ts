/**
 * The tools that pages declare (WebMCP): which there are in a tab, and calling one.
 *
 * The browser's own `document.modelContext` is reached from the isolated world. Older libraries put
 * an object of their own into the page's world, as `navigator.modelContext` or in place of the
 * browser's; those that list their tools are reached there. All of it is the page's word.
 */

import type { ToolSpec } from '@tabwire/shared';
import { isRecord } from '../../check';
import { CommandError } from '../../command';
import type { DeclaredTool, ToolOutcome } from '../../content/api';
import { quoted } from '../../quoted';
import { ignore, remaining, within } from '../common/time-limits';
import { numberDocument, printReference } from '../tab/documents';
import {
  ALL,
  type Answer,
  DocumentGone,
  type DocumentPlace,
  inDocument,
  unresponsive,
  type Where,
} from './content-calls';
import type { Page } from './page';

const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const MOST_TOOLS = 128;
const LONGEST_DESCRIPTION = 1_000;
const LARGEST_SCHEMA = 8_192;
// The hub reads 128 levels, and a list that holds a deeper one could not be told at all.
const DEEPEST_SCHEMA = 64;
// A frame that never says what it has must not keep the others' tools from being known.
const LIST_WITHIN_MS = 3_000;

/** A tool with the document that declares it. */
interface FoundTool extends DeclaredTool {
  readonly place: DocumentPlace;
  readonly isNative: boolean;
  readonly origin: string;
  readonly isTop: boolean;
}

/** Lists the tools of a tab as the hub takes them; those of the page come before its frames'. */
export async function discover(page: Page): Promise<ToolSpec[]> {
  const found = await find(page);
  return found
    .slice(0, MOST_TOOLS)
    .map(({ name, description, inputSchema, readOnly, ...from }) => ({
      name,
      description: from.isTop ? description : `(in a frame of ${from.origin}) ${description}`,
      inputSchema: parsed(inputSchema ?? null) ?? {},
      annotations: { readOnlyHint: readOnly },
      ...(from.isTop ? {} : { origin: from.origin }),
    }));
}

/** Calls a tool of the page and waits for what it does, as for a click. */
export async function callTool(page: Page, name: string, input: unknown): Promise<unknown> {
  const tool = (await find(page)).find((declared) => declared.name === name);
  if (tool === undefined) throw gone(name);
  const outcome: { value?: ToolOutcome } = {};
  const report = await page.act(async () => {
    const armed = await page.armTop();
    try {
      outcome.value = await perform(page, tool, input ?? {});
    } catch (error) {
      // It sent the page elsewhere, as a form does that submits itself.
      if (!(error instanceof DocumentGone)) throw error;
    }
    return { armed };
  });
  const told = outcome.value ?? { type: 'done', value: null };
  switch (told.type) {
    case 'unknown':
      throw gone(name);
    case 'failed':
      throw new CommandError('PAGE_TOOL_FAILED', failure(name, told.message));
    case 'waiting':
      return {
        waiting: 'the form is filled and waits to be submitted',
        ref: await refIn(page, tool, told.ref),
      };
    case 'done':
      return told.value === null && report.navigated === true ? report : parsed(told.value);
    default:
      return told satisfies never;
  }
}

async function find(page: Page): Promise<FoundTool[]> {
  const answers = await page.read({ where: ALL, method: 'listTools', args: [] });
  const found: FoundTool[] = [];
  for (const { documentId, frameId, value } of answers) {
    const place = { documentId, frameId };
    const { origin } = value;
    if (value.isRefused) continue;
    // A library may have put an object of its own beside the browser's.
    const isNative = value.tools.length > 0;
    const tools = isNative ? value.tools : await listInPage(page, inDocument(place));
    for (const tool of tools) {
      // Names that the protocol cannot carry, and those that an outer document has taken.
      if (!TOOL_NAME.test(tool.name) || found.some(({ name }) => name === tool.name)) continue;
      if (depthOf(tool.inputSchema ?? '') > DEEPEST_SCHEMA) continue;
      found.push({ ...tool, place, isNative, origin, isTop: frameId === 0 });
    }
  }
  return found;
}

/** How deeply a JSON text is nested. */
function depthOf(json: string): number {
  let [level, deepest] = [0, 0];
  for (const [mark] of json.replace(/"(?:[^"\\]|\\.)*"/g, '').matchAll(/[[{\]}]/g)) {
    level += mark === '[' || mark === '{' ? 1 : -1;
    deepest = Math.max(deepest, level);
  }
  return deepest;
}

async function listInPage(page: Page, where: Where): Promise<readonly DeclaredTool[]> {
  const asked = page.runInPage(where, askPageWorld, [null, '{}']);
  const [answer] = await within(asked, page.limits, LIST_WITHIN_MS, unresponsive).catch(() => []);
  return readDeclared(answer?.value);
}

/** Reads tools that a page's own world told: every function it was made with may be the page's. */
export function readDeclared(told: unknown): DeclaredTool[] {
  if (!Array.isArray(told)) return [];
  return told.slice(0, MOST_TOOLS).flatMap((tool: unknown) => {
    if (!isRecord(tool)) return [];
    const { name, description, inputSchema, readOnly } = tool;
    if (typeof name !== 'string' || typeof description !== 'string') return [];
    const isSchema = typeof inputSchema === 'string' && inputSchema.length <= LARGEST_SCHEMA;
    return [
      {
        name,
        description: description.slice(0, LONGEST_DESCRIPTION),
        ...(isSchema ? { inputSchema } : {}),
        readOnly: readOnly === true,
      },
    ];
  });
}

async function perform(page: Page, tool: FoundTool, input: unknown): Promise<ToolOutcome> {
  const callId = crypto.randomUUID();
  const { name, isNative } = tool;
  const where = inDocument(tool.place);
  if (!isNative) {
    const [answer] = await page.runInPage(where, askPageWorld, [name, JSON.stringify(input)]);
    return readOutcome(answer?.value);
  }
  const cancel = () => ignore(page.run(where, cancelInPage, [callId]));
  page.limits.signal.addEventListener('abort', cancel);
  try {
    const [answer]: Array<Answer<ToolOutcome>> = await page.call({
      where,
      method: 'callTool',
      args: [callId, name, input],
      extraMs: remaining(page.limits),
    });
    return answer?.value ?? { type: 'unknown' };
  } finally {
    page.limits.signal.removeEventListener('abort', cancel);
  }
}

async function refIn(page: Page, { place }: FoundTool, element: number): Promise<string> {
  const document = await numberDocument(page.tabId, place.documentId, place.frameId);
  return printReference({ document, element });
}

// Serialised into the page: may not close over this module.
function cancelInPage(callId: string): void {
  globalThis.tabwire?.cancelTool(callId);
}

// Serialised into the page's own world, where nothing of ours is: may not close over anything.
// Without a name it lists; what the browser itself keeps is not looked at here.
async function askPageWorld(name: string | null, input: string): Promise<unknown> {
  const native: unknown = Reflect.get(globalThis, 'ModelContext');
  const isNative = (holder: object) => typeof native === 'function' && holder instanceof native;
  const method = (holder: object, ...names: string[]) => {
    const found = names.map((one) => Reflect.get(holder, one)).find((one) => one !== undefined);
    return typeof found === 'function' ? found : undefined;
  };
  const testing: unknown = Reflect.get(navigator, 'modelContextTesting');
  const holders = [
    testing,
    Reflect.get(navigator, 'modelContext'),
    Reflect.get(document, 'modelContext'),
  ];
  const list = async (holder: object) => {
    const answer: unknown = await method(holder, 'listTools', 'getTools')?.call(holder);
    const inner = typeof answer === 'object' && answer ? Reflect.get(answer, 'tools') : [];
    return Array.isArray(answer) ? answer : Array.isArray(inner) ? inner : [];
  };
  const describe = ({ name, title, description, inputSchema, annotations }: ToolInPage) => {
    const schema = typeof inputSchema === 'string' ? inputSchema : JSON.stringify(inputSchema);
    return {
      name: String(name),
      description: String(description ?? title ?? '').slice(0, 1000),
      ...((schema ?? '').length <= 8192 ? { inputSchema: schema ?? 'null' } : {}),
      readOnly: annotations?.readOnlyHint === true,
    };
  };
  const call = async (holder: object) => {
    const values: unknown = JSON.parse(input);
    const calling = method(holder, 'callTool');
    const value: unknown = calling
      ? await calling.call(holder, { name, arguments: values })
      : await method(holder, 'executeTool')?.call(
          holder,
          name,
          holder === testing ? input : values,
        );
    return {
      type: 'done',
      value: typeof value === 'string' ? value : (JSON.stringify(value) ?? null),
    };
  };
  for (const holder of holders) {
    if (typeof holder !== 'object' || holder === null || isNative(holder)) continue;
    const tools = await list(holder).catch(() => []);
    if (tools.length === 0) continue;
    if (name === null) return tools.slice(0, 64).map(describe);
    return call(holder).catch((error) => ({
      type: 'failed',
      message: error instanceof Error ? error.message : String(error),
    }));
  }
  return name === null ? [] : { type: 'unknown' };
}

/** A tool as libraries list it; nothing of it is certain. */
interface ToolInPage {
  readonly name?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly annotations?: { readonly readOnlyHint?: unknown } | null;
}

/** Reads what a tool of the page's own world came to; it fills no forms, so none can wait. */
export function readOutcome(told: unknown): ToolOutcome {
  if (!isRecord(told)) return { type: 'unknown' };
  const { type, value, message } = told;
  if (type === 'done') return { type, value: typeof value === 'string' ? value : null };
  if (type === 'failed') return { type, message: String(message) };
  return { type: 'unknown' };
}

/** Tools answer in text, which is JSON where they answered with something else. */
function parsed(text: string | null): unknown {
  if (text === null || !/^\s*[[{"\d-]|^\s*(?:true|false|null)\s*$/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function gone(name: string): CommandError {
  return new CommandError(
    'PAGE_TOOL_NOT_FOUND',
    `the page declares no tool ${name} now; list them with page_tools`,
  );
}

function failure(name: string, message: string): string {
  // The browser keeps the reason to itself.
  const isBare = /invocation failed/i.test(message);
  const reason = isBare
    ? 'it threw an error, and the browser does not say which'
    : quoted(message.slice(0, 500));
  return `the page's tool ${name} failed: ${reason}; browser_debug errors may tell more`;
}
