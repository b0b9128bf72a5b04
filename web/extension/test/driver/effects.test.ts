/**
 * What frames tell of an act, added up.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Changes } from '../../src/content/api';
import { addUp } from '../../src/driver/page/effects';
import { FakeDriverChrome } from './fake-driver-chrome';

new FakeDriverChrome().install();

const COUNTS = { added: 1, removed: 2, attributes: 3, text: 4 };

function answer(documentId: string, frameId: number, value: Changes) {
  return { documentId, frameId, value };
}

test('counts are added up, and references belong to the frame that told them', async () => {
  const facts: Changes['facts'] = [
    { what: 'appeared', role: 'button', name: 'Undo', ref: 9 },
    { what: 'gone', role: 'dialog', name: 'Terms' },
  ];
  const told = await addUp(1, [
    answer('A', 0, { ...COUNTS, facts }),
    answer('B', 3, COUNTS),
    answer('C', 4, { ...COUNTS, facts: [{ what: 'changed', role: 'tab', name: 'T', ref: 9 }] }),
  ]);
  assert.deepEqual(told, {
    added: 3,
    removed: 6,
    attributes: 9,
    text: 12,
    facts: [
      { what: 'appeared', role: 'button', name: 'Undo', ref: 'e9' },
      { what: 'gone', role: 'dialog', name: 'Terms' },
      { what: 'changed', role: 'tab', name: 'T', ref: 'd2e9' },
    ],
  });
});
