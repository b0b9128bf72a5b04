/**
 * What Chrome's own accessibility tree says of the tab's documents, element by element.
 *
 * Only elements that the page has made are told: the insides of date fields and media controls are
 * the browser's, and what CSS generates is no element. Chrome's internal roles are told in our
 * spelling where they mean the same.
 */

import type { Browser } from './browser';
import { list, record, text } from './json';
import { MARK } from './walker-tree';

/** One element of the page, with what Chrome says of it. */
export interface ChromeElement {
  /** The mark that our walker's reader left; none where the walker told nothing. */
  readonly mark: string | null;
  /** Its opening tag, for people. */
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly role: string;
  readonly name: string;
  readonly value: string | null;
  readonly properties: ReadonlyMap<string, unknown>;
}

export interface ChromeTree {
  readonly elements: readonly ChromeElement[];
  /** Opening tags by mark, of all that are marked. */
  readonly tags: ReadonlyMap<string, string>;
  readonly documents: number;
}

/** Reads all frames of the tab. */
export async function readChromes(browser: Browser): Promise<ChromeTree> {
  const elements: ChromeElement[] = [];
  const tags = new Map<string, string>();
  let documents = 0;
  for (const session of browser.sessions) {
    const found = await findElements(browser, session);
    for (const { mark, tag } of found.values()) if (mark !== null) tags.set(mark, tag);
    const frames = await findFrames(browser, session);
    documents += frames.length;
    for (const frameId of frames) {
      const tree = await browser.devtools.send(session, 'Accessibility.getFullAXTree', { frameId });
      for (const node of list(tree.nodes)) {
        const element = found.get(Number(record(node).backendDOMNodeId));
        if (element) elements.push({ ...element, ...readNode(record(node)) });
      }
    }
  }
  return { elements, tags, documents };
}

type PageElement = Pick<ChromeElement, 'mark' | 'tag' | 'attributes'>;

async function findFrames(browser: Browser, session: string): Promise<string[]> {
  const { frameTree } = await browser.devtools.send(session, 'Page.getFrameTree');
  const found: string[] = [];
  const waiting = [record(frameTree)];
  for (let tree = waiting.pop(); tree; tree = waiting.pop()) {
    found.push(text(record(tree.frame).id));
    waiting.push(...list(tree.childFrames).map(record));
  }
  return found;
}

async function findElements(browser: Browser, session: string): Promise<Map<number, PageElement>> {
  const { root } = await browser.devtools.send(session, 'DOM.getDocument', {
    depth: -1,
    pierce: true,
  });
  const found = new Map<number, PageElement>();
  const waiting = [record(root)];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.shadowRootType === 'user-agent') continue;
    if (node.nodeType === 1) found.set(Number(node.backendNodeId), readElement(node));
    const inner = [node.contentDocument, ...list(node.shadowRoots), ...list(node.children)];
    waiting.push(...inner.filter((child) => child !== undefined).map(record));
  }
  return found;
}

function readElement(node: Record<string, unknown>): PageElement {
  const pairs = list(node.attributes).map(text);
  const attributes = new Map<string, string>();
  for (let at = 0; at < pairs.length; at += 2) attributes.set(pairs[at] ?? '', pairs[at + 1] ?? '');
  const mark = attributes.get(MARK) ?? null;
  attributes.delete(MARK);
  const written = [...attributes].map(([name, value]) => ` ${name}="${value.slice(0, 40)}"`);
  return { mark, attributes, tag: `<${text(node.localName)}${written.join('')}>` };
}

function readNode(node: Record<string, unknown>) {
  const role = text(record(node.role).value);
  const value = record(node.value).value;
  const properties = list(node.properties).map(record);
  return {
    role: node.ignored === true ? 'none' : (SAME_ROLES.get(role) ?? role),
    name: text(record(node.name).value),
    value: value === undefined ? null : String(value),
    properties: new Map(properties.map((one) => [text(one.name), record(one.value).value])),
  };
}

// Chrome's internal roles that are one of ours under another name.
const SAME_ROLES: ReadonlyMap<string, string> = new Map([
  ['Audio', 'audio'],
  ['Canvas', 'canvas'],
  ['EmbeddedObject', 'object'],
  ['Iframe', 'iframe'],
  ['image', 'img'],
  ['MathMLMath', 'math'],
  ['PluginObject', 'object'],
  ['Video', 'video'],
]);
