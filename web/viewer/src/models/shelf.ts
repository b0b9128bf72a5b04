/**
 * The shelf: every model that may be shown, by its source.
 *
 * Loading puts a model on the shelf and only then can the state name it, so the scene never waits.
 * Built-in models are built when they are first shown. What no step of the history names any more
 * is taken off by `keepOnly`.
 */

import type { Group } from 'three';
import { BUILTINS } from './builtin';
import { dispose, fit } from './fit';
import { fetchModel, readAddress, readModelFile } from './gltf';
import { asBuiltinName, type BuiltinName } from './names';

/** What the state needs to know of a model. */
export interface ShelfModel {
  readonly name: string;
  readonly source: string;
  /** The colour it comes in; files keep their own, so theirs is white. */
  readonly color: string;
}

const AS_IT_IS = '#ffffff';

export class Shelf {
  readonly #models = new Map<string, Group>();
  #files = 0;

  /** Names a built-in model. */
  builtin(name: BuiltinName): ShelfModel {
    return { name, source: `builtin:${name}`, color: BUILTINS[name].color };
  }

  /** Fetches a model; relative addresses are relative to the page. */
  async fetch(address: string): Promise<ShelfModel> {
    const url = readAddress(address, location.href);
    if (!this.#models.has(url.href)) this.#models.set(url.href, fit(await fetchModel(url)));
    const name = decodeURIComponent(url.pathname.split('/').pop() ?? '') || url.host;
    return { name, source: url.href, color: AS_IT_IS };
  }

  /** Reads a file; each time anew, since files change. */
  async read(file: File): Promise<ShelfModel> {
    const model = fit(await readModelFile(file));
    this.#files += 1;
    const source = `file:${file.name}${this.#files > 1 ? `#${this.#files}` : ''}`;
    this.#models.set(source, model);
    return { name: file.name, source, color: AS_IT_IS };
  }

  /** Returns the model of a source that was loaded. */
  take(source: string): Group {
    const there = this.#models.get(source);
    if (there !== undefined) return there;
    const name = asBuiltinName(source.replace('builtin:', ''));
    const built = fit(BUILTINS[name ?? 'knot'].build());
    this.#models.set(source, built);
    return built;
  }

  /** Lets go of all others. */
  keepOnly(sources: ReadonlySet<string>): void {
    for (const [source, model] of this.#models) {
      if (sources.has(source)) continue;
      this.#models.delete(source);
      dispose(model);
    }
  }
}
