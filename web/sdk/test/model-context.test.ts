/**
 * Tools in the browser's own register, as the draft has it and as earlier drafts had it.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tool } from '../src/options';
import { FakePage, opened } from './support/fake-page';

interface Registered {
  name: string;
  description: string;
  annotations: { readOnlyHint: boolean };
  execute(input: unknown): Promise<unknown>;
}

const look: Tool = {
  name: 'look',
  description: 'Looks.',
  readOnly: true,
  inputSchema: { type: 'object', properties: { far: { type: 'boolean' } } },
  run: ({ far }) => ({ far }),
};

/** The register of the draft: a signal takes tools back, one name can be there once. */
function draft() {
  const tools = new Map<string, Registered>();
  const registerTool = async (tool: Registered, { signal }: { signal: AbortSignal }) => {
    if (tools.has(tool.name)) throw new DOMException('taken', 'InvalidStateError');
    tools.set(tool.name, tool);
    signal.addEventListener('abort', () => tools.delete(tool.name));
  };
  return { tools, registerTool };
}

test('tools are registered with the document, run with checks, and vanish', async () => {
  const modelContext = draft();
  const { tools } = modelContext;
  const page = new FakePage({ onDocument: { modelContext } });
  const { link } = await opened({ tools: [look] }, page);
  const registered = tools.get('look') ?? assert.fail();
  assert.equal(registered.description, 'Looks.');
  assert.deepEqual(registered.annotations, { readOnlyHint: true });
  assert.deepEqual(await registered.execute({ far: true }), { far: true });
  await assert.rejects(registered.execute({ far: 'yes' }), /far must be boolean, not "yes"/);
  link.setTools([{ ...look, name: 'listen' }, look]);
  assert.deepEqual([...tools.keys()], ['listen', 'look']);
  link.close();
  assert.deepEqual([...tools.keys()], []);
});

test('a tool that an agent in the browser runs changes the state that the hub sees', async () => {
  const modelContext = draft();
  const page = new FakePage({ onDocument: { modelContext } });
  const state = { on: false };
  const light: Tool = {
    name: 'light',
    description: 'Puts it on.',
    run: () => {
      state.on = true;
    },
  };
  const { greet } = await opened({ state: () => state, tools: [light] }, page);
  const socket = greet();
  await modelContext.tools.get('light')?.execute({});
  assert.deepEqual(socket.of('stateUpdate').at(-1)?.state, { on: true });
});

test('the name of somebody else stays theirs', async () => {
  const modelContext = draft();
  await modelContext.registerTool(
    { ...look, name: 'look' } as unknown as Registered,
    new AbortController(),
  );
  const page = new FakePage({ onDocument: { modelContext } });
  const { errors } = await opened({ tools: [look] }, page);
  assert.deepEqual(errors, []);
  assert.equal(modelContext.tools.size, 1);
});

test('earlier drafts: the navigator, with functions that take tools back', async () => {
  const tools = new Map<string, Registered>();
  const byName = {
    registerTool: (tool: Registered) => void tools.set(tool.name, tool),
    unregisterTool: (name: string) => void tools.delete(name),
  };
  const byHandle = {
    registerTool: (tool: Registered) => {
      tools.set(tool.name, tool);
      return { unregister: () => tools.delete(tool.name) };
    },
  };
  const atOnce = {
    provideContext: (context: { tools: Registered[] }) => {
      tools.clear();
      for (const tool of context.tools) tools.set(tool.name, tool);
    },
  };
  for (const modelContext of [byName, byHandle, atOnce]) {
    const page = new FakePage({ onNavigator: { modelContext } });
    const { link } = await opened({ tools: [look] }, page);
    const result = await tools.get('look')?.execute({ far: false });
    assert.deepEqual(result, { content: [{ type: 'text', text: '{"far":false}' }] });
    link.close();
    assert.equal(tools.size, 0);
  }
});
