/**
 * Reads what the tests need of `apps/hello3d.toml` and its cases.
 *
 * Not a TOML reader: it knows the few shapes that this file has, and says when it meets another.
 * Tests run in `web/`.
 */

import { readFileSync } from 'node:fs';

/** A getter's path or a command's name, for every tool that `each` makes. */
export interface ManifestTool {
  readonly name: string;
  readonly state?: string;
  readonly command?: string;
}

/** A case of a command: what goes over the wire. */
export interface CommandCase {
  readonly tool: string;
  readonly command: string;
  readonly wire: Record<string, unknown>;
}

/** Returns all tools of the manifest. */
export function readManifest(): readonly ManifestTool[] {
  const [, ...blocks] = readFileSync('../apps/hello3d.toml', 'utf8').split('[[tool]]');
  return blocks.flatMap((block) => expand(block, wordsOf(block)));
}

/** Returns the cases of the commands. */
export function readCases(): readonly CommandCase[] {
  const { commands } = JSON.parse(readFileSync('../apps/hello3d.cases.json', 'utf8'));
  return commands;
}

function wordsOf(block: string): readonly (readonly [string, readonly string[]])[] {
  const each = /^each = \{ (.+) \}$/m.exec(block)?.[1];
  if (each === undefined) return [];
  const found = [...each.matchAll(/(\w+) = \[([^\]]+)\]/g)];
  if (found.length === 0) throw new Error(`an \`each\` of another shape: ${each}`);
  return found.map(([, word = '', list = '']) => [word, list.split(',').map(unquote)] as const);
}

function expand(
  block: string,
  [first, ...rest]: readonly (readonly [string, readonly string[]])[],
): readonly ManifestTool[] {
  if (first === undefined) return [toolOf(block)];
  const [word, values] = first;
  const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
  return values.flatMap((value) =>
    expand(
      block.replaceAll(`{${word}}`, value).replaceAll(`{${capital(word)}}`, capital(value)),
      rest,
    ),
  );
}

function toolOf(block: string): ManifestTool {
  const read = (key: string) => new RegExp(`^${key} = "(.+)"$`, 'm').exec(block)?.[1];
  const name = read('name');
  if (name === undefined) throw new Error(`a tool without a name: ${block}`);
  const state = read('state');
  const command = read('command');
  return {
    name,
    ...(state === undefined ? {} : { state }),
    ...(command === undefined ? {} : { command }),
  };
}

function unquote(text: string): string {
  return text.trim().replaceAll('"', '');
}
