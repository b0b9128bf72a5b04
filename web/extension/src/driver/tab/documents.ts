/**
 * Numbers for documents, and the written form of references.
 *
 * A tab's documents are numbered from 1 and no number is ever given again, so a reference into a
 * document that is gone is dead by construction. The table is in `storage.session`, where the
 * worker's death does not lose it. `e12` is element 12 of document 1, `d3e12` of document 3.
 */

import { CommandError } from '../../command';
import { ignore } from '../common/time-limits';

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
const REMEMBERED = 400;

const tables = new Map<number, Promise<Table>>();

/** Returns the numbers of documents, giving new ones where needed. */
export async function numberDocuments(
  tabId: number,
  documents: ReadonlyArray<{ readonly documentId: string; readonly frameId: number }>,
): Promise<Numbered[]> {
  const table = await tableOf(tabId);
  let isNew = false;
  const numbered = documents.map(({ documentId, frameId }) => {
    const known = table.documents.find((document) => document.documentId === documentId);
    if (known !== undefined) return known;
    isNew = true;
    const document = { n: table.next++, documentId, frameId };
    table.documents.push(document);
    return document;
  });
  if (isNew) await keep(tabId, table);
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
  const table = await tableOf(tabId);
  return table.documents.find((document) => document.n === n);
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerDocuments(): void {
  chrome.tabs.onRemoved.addListener((tabId) => {
    tables.delete(tabId);
    ignore(chrome.storage.session.remove(keyOf(tabId)));
  });
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

function tableOf(tabId: number): Promise<Table> {
  const known = tables.get(tabId);
  if (known !== undefined) return known;
  const reading = readTable(tabId);
  tables.set(tabId, reading);
  return reading;
}

async function readTable(tabId: number): Promise<Table> {
  const key = keyOf(tabId);
  const { [key]: kept } = await chrome.storage.session.get(key);
  // Only `keep` writes there.
  return (kept as Table | undefined) ?? { next: 1, documents: [] };
}

async function keep(tabId: number, table: Table): Promise<void> {
  table.documents.splice(0, table.documents.length - REMEMBERED);
  await chrome.storage.session.set({ [keyOf(tabId)]: table });
}

function keyOf(tabId: number): string {
  return `driver.documents.${tabId}`;
}
