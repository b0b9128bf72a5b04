import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../src/commands';
import { apply, INITIAL_STATE } from '../src/state';
import { readCases, readManifest } from './support/manifest';

const tools = readManifest();

test('the manifest is read in full', () => {
  assert.equal(tools.length, 61);
});

test('every state path of the manifest exists in the state', () => {
  const paths = tools.flatMap(({ state }) => state ?? []);
  assert.equal(paths.length, 14);
  for (const path of paths) assert.notEqual(at(INITIAL_STATE, path), undefined, path);
});

test('the commands are exactly those of the manifest', () => {
  const named = tools.flatMap(({ command }) => command ?? []);
  assert.deepEqual(Object.keys(COMMANDS).sort(), [...named].sort());
});

test('every case of the manifest is a command that does something valid', () => {
  for (const { command, wire } of readCases()) {
    const run = COMMANDS[command];
    assert.ok(run, command);
    const { change } = run(INITIAL_STATE, wire);
    const after = apply(INITIAL_STATE, change);
    assert.doesNotMatch(JSON.stringify(after), /null/, `${command} ${JSON.stringify(wire)}`);
  }
});

test('every case but those that aim where the light is changes the state', () => {
  for (const { command, wire } of readCases()) {
    const { change } = COMMANDS[command]?.(INITIAL_STATE, wire) ?? assert.fail(command);
    const isThere =
      wire.direction === INITIAL_STATE.keyLight.position.azimuth && command.includes('Key');
    assert.equal(apply(INITIAL_STATE, change) === INITIAL_STATE, isThere, JSON.stringify(wire));
  }
});

function at(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (inner, key) =>
        typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined,
      value,
    );
}
