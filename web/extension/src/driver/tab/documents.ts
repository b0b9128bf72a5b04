/**
 * Numbers for documents, and the written form of references.
 *
 * A tab's documents are numbered from 1 and no number is ever given again, so a reference into a
 * document that is gone is dead by construction. The table is in `storage.session`, where the
 * worker's death does not lose it. `e12` is element 12 of document 1, `d3e12` of document 3.
 */

import { isRecord } from '../../check';
import { CommandError } from '../../command';
import { KeptTabPart, tabsRestored } from './tab-state';

/** A document that has a number. */
export interface Numbered {
  readonly n: number;
  readonly documentId: string;
  readonly frameId: number;
}

interface Table {
  next: number;
  documents: Numbered[];
}

// Of a tab's past documents so many are remembered; older references are dead all the same.
const REMEMBERED_DOCUMENTS = 400;

const tables = new KeptTabPart<Table>('documents', {
  lifetimes: ['tab'],
  read: (kept) => (isTable(kept) ? kept : undefined),
});

/** Returns the numbers of documents, giving new ones where needed. */
export async function numberDocuments(
  tabId: number,
  documents: ReadonlyArray<{ readonly documentId: string; readonly frameId: number }>,
): Promise<Numbered[]> {
  await tabsRestored();
  const table = tables.get(tabId) ?? { next: 1, documents: [] };
  let isNew = false;
  const numbered = documents.map(({ documentId, frameId }) => {
    const known = table.documents.find((document) => document.documentId === documentId);
    if (known !== undefined) return known;
    isNew = true;
    const document = { n: table.next++, documentId, frameId };
    table.documents.push(document);
    return document;
  });
  table.documents.splice(0, table.documents.length - REMEMBERED_DOCUMENTS);
  if (isNew) await tables.set(tabId, table);
  return numbered;
}

/** Returns the number of one document. */
export async function numberDocument(
  tabId: number,
  documentId: string,
  frameId: number,
): Promise<number> {
  const [document] = await numberDocuments(tabId, [{ documentId, frameId }]);
  return document?.n ?? 0;
}

/** Returns the document of a number, or nothing if none has it or it is long gone. */
export async function documentOf(tabId: number, n: number): Promise<Numbered | undefined> {
  await tabsRestored();
  return tables.get(tabId)?.documents.find((document) => document.n === n);
}

/** A reference, read. */
export interface Reference {
  readonly document: number;
  readonly element: number;
}

/** Reads `e12` or `d3e12`. */
export function parseReference(text: string): Reference {
  const match = /^(?:d([1-9]\d{0,8}))?e([1-9]\d{0,8})$/.exec(text.trim());
  if (match === null) {
    throw new CommandError(
      'INVALID_ARGUMENT',
      `${JSON.stringify(text)} is no reference; it looks like e12 or d3e12 and comes from ` +
        'browser_snapshot',
    );
  }
  return { document: Number(match[1] ?? 1), element: Number(match[2]) };
}

/** Writes a reference. */
export function printReference({ document, element }: Reference): string {
  return document === 1 ? `e${element}` : `d${document}e${element}`;
}

function isTable(value: unknown): value is Table {
  return isRecord(value) && typeof value.next === 'number' && Array.isArray(value.documents);
}
