/**
 * Which role a page has written.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CLOSED_TO_NAMES,
  INPUT_ROLES,
  KNOWN_ROLES,
  knowsState,
  NAMED_BY_CONTENT,
  readRole,
  TAG_ROLES,
} from '../../src/content/role-tables';

const cases: ReadonlyArray<[written: string, role: string | null]> = [
  ['button', 'button'],
  ['BUTTON', 'button'],
  ['  Link ', 'link'],
  ['foo  link', 'link'],
  ['widget', null],
  ['', null],
  ['presentation button', 'none'],
  ['image', 'img'],
  ['directory', 'list'],
  ['constructor', null],
  [`${'x '.repeat(10_000)}button`, null],
];

for (const [written, role] of cases) {
  test(`role="${written.slice(0, 30)}" is read as ${role}`, () => {
    assert.equal(readRole(written), role);
  });
}

test('what tags mean are roles, or things that have none', () => {
  const own = new Set(['audio', 'canvas', 'iframe', 'object', 'video']);
  for (const role of [...TAG_ROLES.values(), ...INPUT_ROLES.values()]) {
    assert.ok(KNOWN_ROLES.has(role) || own.has(role), role);
  }
});

test('what is named by its content is a role', () => {
  for (const role of NAMED_BY_CONTENT) assert.ok(KNOWN_ROLES.has(role), role);
});

test('what is closed to names is a role, and none that is named by its content', () => {
  for (const role of CLOSED_TO_NAMES) {
    assert.ok(KNOWN_ROLES.has(role) || role === 'object', role);
    assert.ok(!NAMED_BY_CONTENT.has(role), role);
  }
});

test('a state counts only where the role knows it, or where there is no role', () => {
  assert.equal(knowsState('button', 'aria-pressed'), true);
  assert.equal(knowsState('link', 'aria-pressed'), false);
  assert.equal(knowsState('heading', 'aria-expanded'), false);
  assert.equal(knowsState('generic', 'aria-expanded'), true);
});
