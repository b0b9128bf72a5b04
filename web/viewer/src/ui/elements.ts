/** Finds the parts of `index.html`, once, with their kinds checked. */

/** Returns the element with that id, or throws: page and script belong together. */
export function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`index.html has no ${kind.name} with the id ${id}`);
}
