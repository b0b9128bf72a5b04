/**
 * What our walker says of the tab's documents, and marks on the elements it says it of.
 *
 * The script goes in by the extension, as in real use. Each element that has a reference
 * gets an attribute by which Chrome's tree is matched with it. Text has no reference and is left
 * out.
 */

import { isListOf, isText } from '../../src/check';
import type { Browser } from './browser';
import { list, record, text } from './json';

export const MARK = 'data-agreement';

/** One element as the walker tells it. */
export interface OurNode {
  readonly role: string;
  readonly name: string;
  readonly value: string | null;
  readonly flags: readonly string[];
}

export interface OurTree {
  /** By mark. */
  readonly nodes: ReadonlyMap<string, OurNode>;
  readonly documents: number;
}

/** Reads all frames of the tab that shows this address. */
export async function readOurs(browser: Browser, url: string): Promise<OurTree> {
  const call = `(${inExtension})(${JSON.stringify(url)}, ${JSON.stringify(MARK)}, ${inPage})`;
  const answers = list(await browser.inExtension(call));
  const nodes = new Map<string, OurNode>();
  for (const answer of answers) {
    const { frame, nodes: written } = record(answer);
    for (const node of list(JSON.parse(text(written)))) {
      const [ref, , role, name, value, flags] = list(node);
      if (ref === 0) continue;
      nodes.set(`${text(frame)}-${ref}`, {
        role: text(role),
        name: text(name),
        value: isText(value) ? value : null,
        flags: isListOf(flags, isText) ? flags : [],
      });
    }
  }
  return { nodes, documents: answers.length };
}

type InPage = (mark: string) => { readonly frame: string; readonly nodes: string } | null;

// Serialised into the extension: may not close over this module.
async function inExtension(url: string, mark: string, func: InPage): Promise<unknown[]> {
  const tab = (await chrome.tabs.query({})).find((one) => one.url === url);
  if (tab?.id === undefined) throw new Error(`no tab shows ${url}`);
  const target = { tabId: tab.id, allFrames: true };
  await chrome.scripting.executeScript({ target, files: ['content.js'] });
  const results = await chrome.scripting.executeScript({ target, func, args: [mark] });
  return results.map(({ result }) => result ?? null);
}

// Serialised into the page, too.
function inPage(mark: string) {
  const { tabwire, tabwireRefs } = globalThis;
  if (!tabwire || !tabwireRefs) return null;
  const snapshot = tabwire.snapshot({ maxNodes: 100_000 });
  if ('problem' in snapshot) return null;
  const frame = Math.random().toString(36).slice(2);
  for (let ref = 1; ; ref++) {
    const element = tabwireRefs.get(ref);
    if (!element) break;
    element.setAttribute(mark, `${frame}-${ref}`);
  }
  return { frame, nodes: snapshot.nodes };
}
