/**
 * The bytes of files that are about to be put into an input, as they come from the worker.
 *
 * They are kept in our own world, where the page does not see them before it is given the files.
 * Only one set is kept at a time, and none for long: a worker that died comes back with another.
 */

import type { FileFacts } from './api';

const DROPPED_AFTER_MS = 60_000;

export class FileParts {
  #key = '';
  #files = new Map<number, Array<Uint8Array<ArrayBuffer>>>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Keeps a part (base64) of one of the files with this key. */
  keep(key: string, file: number, data: string): void {
    if (key !== this.#key) this.drop();
    this.#key = key;
    const parts = this.#files.get(file) ?? [];
    parts.push(decode(data));
    this.#files.set(file, parts);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.drop(), DROPPED_AFTER_MS);
  }

  /** Makes files of what was kept under this key, which is not kept any longer. */
  take(key: string, files: readonly FileFacts[]): File[] {
    const kept = key === this.#key ? this.#files : new Map();
    this.drop();
    return files.map(({ name, mimeType, size }, index) => {
      const file = new File(kept.get(index) ?? [], name, { type: mimeType });
      if (file.size !== size) throw new Error(`${name} has ${file.size} of ${size} bytes`);
      return file;
    });
  }

  /** Forgets everything. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#key = '';
    this.#files = new Map();
  }
}

function decode(data: string): Uint8Array<ArrayBuffer> {
  const text = atob(data);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
