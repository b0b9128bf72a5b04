import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  documentOf,
  numberDocument,
  numberDocuments,
  parseReference,
  printReference,
} from '../../src/driver/tab/documents';
import { registerTabState } from '../../src/driver/tab/tab-state';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
registerTabState();

test('documents are numbered from 1, per tab, and keep their numbers', async () => {
  assert.equal(await numberDocument(1, 'A', 0), 1);
  assert.equal(await numberDocument(1, 'B', 0), 2);
  assert.equal(await numberDocument(1, 'A', 0), 1);
  assert.equal(await numberDocument(2, 'C', 0), 1);
  const numbered = await numberDocuments(1, [
    { documentId: 'B', frameId: 0 },
    { documentId: 'D', frameId: 5 },
  ]);
  assert.deepEqual(
    numbered.map(({ n }) => n),
    [2, 3],
  );
  assert.deepEqual(await documentOf(1, 3), { n: 3, documentId: 'D', frameId: 5 });
  assert.equal(await documentOf(1, 9), undefined);
});

test('numbers are kept where the death of the worker does not lose them', async () => {
  await numberDocument(3, 'E', 0);
  const kept = browser.session.values.get('driver.documents.3');
  assert.deepEqual(kept, { next: 2, documents: [{ n: 1, documentId: 'E', frameId: 0 }] });
});

test('a number is not given again, however many documents there were', async () => {
  for (let n = 1; n <= 450; n++) assert.equal(await numberDocument(4, `doc${n}`, 0), n);
  assert.equal(await documentOf(4, 1), undefined);
  assert.equal(await numberDocument(4, 'doc1', 0), 451);
});

test('a closed tab is forgotten', async () => {
  await numberDocument(5, 'F', 0);
  browser.event('tabs.onRemoved').raise(5);
  await Promise.resolve();
  assert.equal(browser.session.values.has('driver.documents.5'), false);
});

test('references are read and written', () => {
  for (const [text, document, element] of [
    ['e12', 1, 12],
    ['d3e12', 3, 12],
  ] as const) {
    assert.deepEqual(parseReference(text), { document, element });
    assert.equal(printReference({ document, element }), text);
  }
  for (const text of ['', 'e', 'e0', '12', 'd0e1', 'e1x', 'E1', 'd3', 'e-1']) {
    assert.throws(() => parseReference(text), /is no reference/, text);
  }
});
