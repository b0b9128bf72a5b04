/**
 * The MCP inspector's command line against a real hub, over stdio and over HTTP: what a person
 * would type to see whether the server works.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { STATE, Stage } from './support.mjs';

const run = promisify(execFile);
const home = dirname(
  createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json'),
);
const inspector = join(home, 'clients/launcher/build/index.js');
let stage;

before(async () => {
  stage = await Stage.start();
});
after(() => stage.stop());

async function inspect(target, ...words) {
  const { stdout } = await run(process.execPath, [inspector, '--cli', ...target, ...words], {
    timeout: 180_000,
  });
  return JSON.parse(stdout);
}

const targets = [
  ['stdio', () => [stage.binary, 'stdio', '--data', stage.data]],
  [
    'HTTP',
    () => [stage.url, '--transport', 'http', '--header', `Authorization: Bearer ${stage.token}`],
  ],
];

for (const [name, target] of targets) {
  test(`the inspector lists tools over ${name}`, async () => {
    const { tools } = await inspect(target(), '--method', 'tools/list');
    const names = tools.map((tool) => tool.name);
    assert.ok(names.includes('app_state') && names.includes('paint'), String(names));
  });

  test(`the inspector calls a tool over ${name}`, async () => {
    const words = ['--method', 'tools/call', '--tool-name', 'paint', '--tool-arg', 'color=blue'];
    const answer = await inspect(target(), ...words);
    assert.deepEqual(answer.structuredContent, { painted: 'blue' });
  });

  test(`the inspector reads a resource over ${name}`, async () => {
    const { contents } = await inspect(target(), '--method', 'resources/read', '--uri', STATE);
    assert.equal(typeof JSON.parse(contents[0].text).value.color, 'string');
  });
}
