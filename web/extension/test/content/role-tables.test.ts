/**
 * Which role a page has written.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  INPUT_ROLES,
  KNOWN_ROLES,
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
