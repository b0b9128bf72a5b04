/**
 * Files on their way to a page: their parts are kept here until the call that puts them into an
 * input, and then go to the content script part by part, for what is injected is JSON.
 *
 * Names, types and bytes come from the hub; a path never does. An upload belongs to the client and
 * the tab that it was begun for. What is kept is bounded, and forgotten when no part has come for a
 * while; it does not survive the worker.
 */

import { isRecord } from '../../check';
import { type Argument, CommandError, invalid } from '../../command';
import type { FileFacts } from '../../content/api';
import { onElement, reportElement, type Target } from '../page/elements';
import type { Page, Performed } from '../page/page';

/** Bytes of all uploads together. */
export const UPLOADS_MOST_BYTES = 50 * 1_048_576;
/** Files of one upload. */
export const UPLOAD_MOST_FILES = 20;
/** Base64 characters of one part. */
export const UPLOAD_PART_CHARACTERS = 4 * 1_048_576;
const FORGOTTEN_AFTER_MS = 60_000;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Whose an upload is. */
export interface UploadOwner {
  readonly clientId: string;
  readonly tabId: number;
}

/** Reads what is told of the files of an upload. */
export function fileFacts(): Argument<readonly FileFacts[]> {
  return {
    wants:
      `a list of at most ${UPLOAD_MOST_FILES} {name, mimeType, size}, whose bytes have come in ` +
      'parts; paths are not taken',
    isOptional: false,
    read(value) {
      if (!Array.isArray(value) || value.length > UPLOAD_MOST_FILES) return undefined;
      if (!value.every(isFileFacts)) return undefined;
      return { value: value.map(({ name, mimeType, size }) => ({ name, mimeType, size })) };
    },
  };
}

function isFileFacts(value: unknown): value is FileFacts {
  if (!isRecord(value)) return false;
  const { name, mimeType, size } = value;
  const isSize = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0;
  return typeof name === 'string' && typeof mimeType === 'string' && isSize;
}

/** A part of a file, as the hub sends it. */
export interface UploadPart {
  readonly uploadId: string;
  /** Which of the files. */
  readonly file: number;
  /** Where it begins: parts come in order. */
  readonly offset: number;
  /** Base64. */
  readonly data: string;
}

/** A file with all its parts, each in base64. */
export interface UploadedFile extends FileFacts {
  readonly parts: readonly string[];
}

interface KeptFile {
  readonly parts: string[];
  size: number;
}

interface Upload {
  readonly owner: UploadOwner;
  readonly files: Map<number, KeptFile>;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const uploads = new Map<string, Upload>();
let keptBytes = 0;

/** Keeps a part; returns how many bytes of its file there are now. */
export function keepPart(owner: UploadOwner, part: UploadPart): number {
  const { uploadId, file, offset, data } = part;
  if (data.length > UPLOAD_PART_CHARACTERS) {
    throw invalid(`a part has at most ${UPLOAD_PART_CHARACTERS} characters`);
  }
  if (data.length % 4 !== 0 || !BASE64.test(data)) throw invalid('data must be base64');
  const upload = uploads.get(uploadId);
  if (upload !== undefined && !isOwner(upload, owner)) throw unknownUpload();
  const kept = upload?.files.get(file) ?? { parts: [], size: 0 };
  if (offset !== kept.size) {
    throw invalid(`the part begins at ${offset}, and ${kept.size} bytes of its file are here`);
  }
  const size = sizeOf(data);
  if (keptBytes + size > UPLOADS_MOST_BYTES) throw tooMuch();
  keptBytes += size;
  kept.parts.push(data);
  kept.size += size;
  (upload ?? begin(uploadId, owner)).files.set(file, kept);
  prolong(uploadId);
  return kept.size;
}

/** Takes an upload out, whole or not at all; it is not kept any longer. */
export function takeUpload(
  owner: UploadOwner,
  uploadId: string | undefined,
  files: readonly FileFacts[],
): UploadedFile[] {
  const upload = uploadId === undefined ? undefined : uploads.get(uploadId);
  if (upload !== undefined && !isOwner(upload, owner)) throw unknownUpload();
  if (uploadId !== undefined) forgetUpload(uploadId);
  return files.map((facts, index) => {
    const { parts, size } = upload?.files.get(index) ?? { parts: [], size: 0 };
    if (size !== facts.size) throw unknownUpload();
    return { ...facts, parts };
  });
}

/** Forgets an upload; one that is not known is none. */
export function forgetUpload(uploadId: string): void {
  const upload = uploads.get(uploadId);
  if (upload === undefined) return;
  clearTimeout(upload.timer);
  for (const { size } of upload.files.values()) keptBytes -= size;
  uploads.delete(uploadId);
}

/** Puts files into a file input, in whichever frame it is. */
export async function putFiles(
  page: Page,
  target: Target,
  files: readonly UploadedFile[],
): Promise<Performed> {
  // Before anything is sent there: it may be no file input, or take one file only.
  const found = await onElement(page, target, (locator) => ({
    method: 'fileInput',
    args: [locator, files.length],
  }));
  const { where } = found;
  const { ref } = reportElement(found, found.value);
  const key = crypto.randomUUID();
  for (const [index, { parts }] of files.entries()) {
    for (const data of parts) {
      await page.call({ where, method: 'keepPart', args: [key, index, data] });
    }
  }
  const facts = files.map(({ name, mimeType, size }) => ({ name, mimeType, size }));
  const set = await onElement(page, { ref }, (locator) => ({
    method: 'setFiles',
    args: [locator, key, facts],
    arm: 'before',
  }));
  return { armed: set.where, element: reportElement(set, set.value) };
}

function begin(uploadId: string, owner: UploadOwner): Upload {
  const upload: Upload = { owner, files: new Map(), timer: undefined };
  uploads.set(uploadId, upload);
  return upload;
}

function prolong(uploadId: string): void {
  const upload = uploads.get(uploadId);
  if (upload === undefined) return;
  clearTimeout(upload.timer);
  upload.timer = setTimeout(() => forgetUpload(uploadId), FORGOTTEN_AFTER_MS);
}

function isOwner({ owner }: Upload, { clientId, tabId }: UploadOwner): boolean {
  return owner.clientId === clientId && owner.tabId === tabId;
}

function sizeOf(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

function unknownUpload(): CommandError {
  return new CommandError(
    'UPLOAD_INCOMPLETE',
    'the browser does not have all bytes of these files (any more); upload them again',
  );
}

function tooMuch(): CommandError {
  const mebibytes = UPLOADS_MOST_BYTES / 1_048_576;
  return new CommandError(
    'TOO_LARGE',
    `uploads under way have at most ${mebibytes} MiB in this browser; upload less, or later`,
  );
}
