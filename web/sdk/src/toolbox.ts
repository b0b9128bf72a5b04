/**
 * The app's tools and commands: what is listed, and which function runs.
 *
 * Tools come before commands of the same name. Arguments are checked here; how often a call runs,
 * and when it is stopped, is decided where it comes from.
 */

import { isRecord, type ToolSpec } from '@tabwire/shared';
import { findFault } from './arguments';
import type { Command, RunContext, Tool } from './options';

const NO_ARGUMENTS = { type: 'object', properties: {} } as const;

/** Makes the error of a call that ends with a code that clients know. */
export function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

export class Toolbox {
  readonly #commands: Readonly<Record<string, Command>>;
  #tools: readonly Tool[] = [];

  constructor(commands: Readonly<Record<string, Command>>) {
    this.#commands = commands;
  }

  /** Replaces the tools; throws if two have one name. */
  set tools(tools: readonly Tool[]) {
    const names = new Set(tools.map((tool) => tool.name));
    if (names.size < tools.length) throw new TypeError('two tools have one name');
    this.#tools = [...tools];
  }

  /** What clients read. */
  get specs(): ToolSpec[] {
    return this.#tools.map(({ name, description, inputSchema, readOnly }) => ({
      name,
      description,
      inputSchema: inputSchema ?? NO_ARGUMENTS,
      annotations: { readOnlyHint: readOnly === true },
    }));
  }

  /** Returns whether a call may change the app. */
  acts(name: string): boolean {
    return this.#find(name)?.readOnly !== true;
  }

  /** Runs a tool or a command. */
  run(name: string, given: unknown, context: RunContext): unknown {
    const args = given ?? {};
    if (!isRecord(args)) throw failure('invalid_argument', 'the arguments must be an object');
    const tool = this.#find(name);
    if (tool !== undefined) {
      const fault = findFault(tool.inputSchema ?? NO_ARGUMENTS, args);
      if (fault !== undefined) throw failure('invalid_argument', fault);
      return tool.run(args, context);
    }
    const command = Object.hasOwn(this.#commands, name) ? this.#commands[name] : undefined;
    if (command !== undefined) return command(args, context);
    const known = this.#tools.map((tool) => tool.name).join(', ') || 'none';
    throw failure('unknown_tool', `the app has no tool ${name}; it has ${known}`);
  }

  #find(name: string): Tool | undefined {
    return this.#tools.find((tool) => tool.name === name);
  }
}
