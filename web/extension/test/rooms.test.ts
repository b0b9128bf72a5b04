/**
 * The extension's folders use each other only as this table says, and all that it says is used.
 * What the driver knows of a tab is a part of the tab's state, which nobody can forget to end.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const SOURCES = join('extension', 'src');

/**
 * Each room with those it uses. A room is a folder with all below it that is no room itself; `.` is
 * what lies beside the folders, and `command` and `execute` are two files there that know more.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  '.': [],
  content: ['.'],
  ui: ['.'],
  // Only the type of what a command gets.
  command: ['.', 'driver/page'],
  // Types of what commands answer.
  generated: [],
  'driver/common': ['.', 'command'],
  'driver/tab': ['.', 'command', 'driver/common'],
  'driver/page': ['.', 'command', 'content', 'driver/common', 'driver/tab', 'generated'],
  'driver/input': [
    '.',
    'command',
    'content',
    'driver/common',
    'driver/page',
    'driver/tab',
    'generated',
  ],
  'driver/reading': ['.', 'command', 'content', 'driver/common', 'driver/page', 'driver/tab'],
  'driver/network': ['.', 'command', 'driver/common', 'driver/page', 'driver/tab', 'generated'],
  'driver/storage': ['command', 'driver/common', 'driver/page', 'generated'],
  'driver/emulation': ['.', 'command', 'driver/common', 'driver/page', 'driver/tab'],
  'driver/navigation': [
    '.',
    'command',
    'content',
    'driver/common',
    'driver/network',
    'driver/page',
    'driver/tab',
    'generated',
  ],
  // Starts them all.
  driver: ['driver/common', 'driver/emulation', 'driver/network', 'driver/reading', 'driver/tab'],
  commands: [
    '.',
    'command',
    'content',
    'driver/common',
    'driver/emulation',
    'driver/input',
    'driver/navigation',
    'driver/network',
    'driver/page',
    'driver/reading',
    'driver/storage',
    'driver/tab',
    'generated',
  ],
  execute: ['command', 'commands', 'driver', 'driver/common', 'driver/page', 'driver/tab'],
  background: ['.', 'command', 'driver', 'driver/common', 'driver/tab', 'execute'],
};

/** Returns the room of a file below `src`, written without its ending. */
function roomOf(file: string): string {
  if (file === 'command' || file === 'execute') return file;
  let folder = dirname(file);
  while (!Object.hasOwn(ROOMS, folder)) folder = dirname(folder);
  return folder;
}

/** Returns which rooms each room uses, with the files that do. */
function uses(): Map<string, Map<string, string[]>> {
  const found = new Map(Object.keys(ROOMS).map((room) => [room, new Map<string, string[]>()]));
  const all = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  const names = new Set(all.map((name) => name.replaceAll('\\', '/').replace(/\.ts$/, '')));
  for (const name of all.filter((each) => each.endsWith('.ts'))) {
    const text = readFileSync(join(SOURCES, name), 'utf8');
    const room = roomOf(name.replaceAll('\\', '/').replace(/\.ts$/, ''));
    for (const [, target = ''] of text.matchAll(/\b(?:from|import\()\s*'(\.[^']*)'/g)) {
      const file = normalize(join(dirname(name), target)).replaceAll('\\', '/');
      const isFolder = names.has(`${file}/index`);
      const used = roomOf(isFolder ? `${file}/index` : file);
      if (used === room) continue;
      found.get(room)?.set(used, [...(found.get(room)?.get(used) ?? []), name]);
    }
  }
  return found;
}

test('folders use each other as the table says', () => {
  for (const [room, used] of uses()) {
    const allowed = ROOMS[room] ?? [];
    for (const [other, files] of used) {
      assert.ok(allowed.includes(other), `${files.join(', ')}: ${room} may not use ${other}`);
    }
    for (const other of allowed) assert.ok(used.has(other), `${room} does not use ${other}`);
  }
});

test('every folder of the driver is a room', () => {
  for (const entry of readdirSync(join(SOURCES, 'driver'), { withFileTypes: true })) {
    if (entry.isDirectory()) assert.ok(Object.hasOwn(ROOMS, `driver/${entry.name}`), entry.name);
  }
});

// Numbers of downloads.
const OTHER_NUMBERS = ['driver/network/downloads.ts'];

test('the driver keeps no tables by tab, and hears of the ends of tabs in one place', () => {
  for (const name of readdirSync(join(SOURCES, 'driver'), { recursive: true, encoding: 'utf8' })) {
    const file = join('driver', name).replaceAll('\\', '/');
    if (!name.endsWith('.ts') || OTHER_NUMBERS.includes(file)) continue;
    const text = readFileSync(join(SOURCES, file), 'utf8');
    const table = /^(?:const|let) (\w+) = new (?:Map|Set)<number\b/m.exec(text)?.[1];
    if (file !== 'driver/tab/tab-state.ts') {
      assert.equal(table, undefined, `${file}: ${table} must be a TabPart, or no table by tab`);
      assert.ok(!/tabs\.on(?:Removed|Replaced)/.test(text), `${file}: let a TabPart end instead`);
    }
    if (file !== 'driver/tab/debugger.ts') {
      assert.ok(!/debugger\.onDetach/.test(text), `${file}: let a TabPart end instead`);
    }
  }
});
