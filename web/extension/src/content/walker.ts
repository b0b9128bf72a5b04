/**
 * The walk: one pass over the rendered tree that collects nodes and lets names bubble up.
 *
 * An element's text goes to its parent when it is left, and each ancestor that is named by its
 * content takes it from there; nothing is read twice. The stack is ours, so that depth is no
 * danger. The same walk reads the text of labels and references, then without collecting.
 */

import {
  closest,
  firstChild,
  firstElementChild,
  has,
  hasAny,
  isElement,
  isText,
  isTrue,
  localName,
  nextElementSibling,
  nextSibling,
  parentElement,
  rectOf,
  textData,
} from './dom';
import { CHILDLESS, isChosen, isClosedToNames, leafName, NATIVE_FIELDS } from './embedded';
import { flagsOf, listens } from './flags';
import { type Fold, foldOf } from './folding';
import { givenName, lastName } from './names';
import { ownedBy, type Reading } from './reading';
import type { Refs } from './refs';
import { CONTROLS, NAMED_BY_CONTENT, NAMED_BY_VALUE } from './role-tables';
import { hasGraphicContent, isFocusable } from './roles';
import { shadowRootOf } from './shadow';
import type { Kind } from './styles';
import { asName, cut, NAME_LIMIT, TEXT_LIMIT, tidy } from './text';
import { controlValue } from './values';
import { isSetAside, type Sight, sightOf } from './visibility';

/** `[ref, depth, role, name, value?, flags?]`; a null value is none. */
export type SnapshotNode = [
  ref: number,
  depth: number,
  role: string,
  name: string,
  value?: string | null,
  flags?: string[],
];

export interface FoundFrame {
  readonly element: Element;
  readonly ref: number;
  readonly depth: number;
}

/** Where nodes are collected. */
export interface Collector {
  readonly refs: Refs;
  readonly maxNodes: number;
  readonly viewport: { readonly width: number; readonly height: number } | null;
  /** Tells where links lead. */
  readonly links: boolean;
  /** Looks at so many elements at most, collected or not. */
  readonly maxVisits?: number;
  /** Looks only at the first and the last of a long list. */
  readonly folds?: Fold[];
}

interface WalkOptions {
  /** Reads what is not rendered too. */
  readonly hidden: boolean;
  /** It is rendered: text is read as CSS shows it, with what CSS adds to it. */
  readonly styled: boolean;
  /** Inside a reference: further references are not followed. */
  readonly reference: boolean;
  /** Contributes nothing: the control that a label is read for. */
  readonly except?: Element;
}

interface Frame {
  readonly element: Element;
  readonly tag: string;
  readonly role: string;
  readonly kind: Kind;
  /** Its place among the collected; -1 when it is not collected. */
  entry: number;
  /** Of what is in it. */
  depth: number;
  readonly shown: boolean;
  /** Somebody wants the text of what is in it. */
  readonly listening: boolean;
  /** What its text becomes. */
  readonly becomes: 'name' | 'value' | null;
  /** Stands for it in names around it, instead of its text. */
  readonly standIn: string | null;
  /** The nearest one that is named by the text in it: it makes that text's own nodes needless. */
  namer: Frame | null;
  readonly covered: number[];
  pointer: boolean;
  readonly disabled: boolean;
  readonly liveBefore: number;
  next: Node | null;
  list: readonly Node[] | null;
  at: number;
  text: string;
  inView: boolean | undefined;
}

// No text, nothing to do; mostly not rendered anyway.
const SKIPPED = new Set([
  'base',
  'col',
  'colgroup',
  'desc',
  'defs',
  'head',
  'link',
  'meta',
  'metadata',
  'noscript',
  'param',
  'rp',
  'rt',
  'script',
  'source',
  'style',
  'symbol',
  'template',
  'title',
  'track',
]);

const TEXT_WALK_LIMIT = 5000;

export class Walk {
  readonly #reading: Reading;
  readonly #options: WalkOptions;
  readonly #collector: Collector | null;
  readonly #nodes: Array<SnapshotNode | null> = [];
  readonly #elements: Element[] = [];
  readonly #frames: FoundFrame[] = [];
  #live = 0;
  #visited = 0;
  #truncated = false;

  constructor(reading: Reading, options: WalkOptions, collector: Collector | null = null) {
    this.#reading = reading;
    this.#options = options;
    this.#collector = collector;
  }

  /** Collects the element and all that is in it. */
  collect(root: Element): { nodes: SnapshotNode[]; frames: FoundFrame[]; truncated: boolean } {
    const base = baseFrame(root, false);
    this.#run(base, root);
    const nodes: SnapshotNode[] = [];
    for (const node of this.#nodes) if (node) nodes.push(node);
    return { nodes, frames: this.#frames, truncated: this.#truncated };
  }

  /** Collects likewise, each with the element it is of; a text with the element it is in. */
  collectWithElements(root: Element): Array<{ element: Element; node: SnapshotNode }> {
    this.#run(baseFrame(root, false), root);
    const found: Array<{ element: Element; node: SnapshotNode }> = [];
    this.#nodes.forEach((node, at) => {
      const element = this.#elements[at];
      if (node && element) found.push({ element, node });
    });
    return found;
  }

  /** How many elements were looked at. */
  get visits(): number {
    return this.#visited;
  }

  /** Returns the text that the element would add to a name. */
  textOf(root: Element): string {
    const base = baseFrame(root, true);
    this.#run(base, root);
    return asName(base.text);
  }

  #run(base: Frame, root: Element): void {
    base.list = [root];
    const stack: Frame[] = [base];
    for (let frame = stack[0]; frame; frame = stack[stack.length - 1]) {
      const node = this.#isFull() ? null : nextChild(frame);
      if (!node) {
        stack.pop();
        const parent = stack[stack.length - 1];
        if (parent) this.#leave(frame, parent);
      } else if (isText(node)) {
        this.#text(frame, node);
      } else if (isElement(node)) {
        const inner = this.#enter(node, frame, frame === base);
        if (inner) stack.push(inner);
      }
    }
  }

  #isFull(): boolean {
    if (this.#collector) {
      return this.#truncated || this.#visited >= (this.#collector.maxVisits ?? Infinity);
    }
    return this.#visited > TEXT_WALK_LIMIT;
  }

  #text(frame: Frame, node: Text): void {
    if (!frame.shown && !this.#options.hidden) return;
    const raw = textData(node);
    if (isBlank(raw)) {
      if (frame.listening && raw !== '') append(frame, ' ');
      return;
    }
    if (this.#reading.isAroundModal(frame.element)) return;
    const text = this.#asShown(frame, tidy(raw));
    // Of a list only what is chosen is read.
    const isList = frame.role === 'listbox' && !this.#options.reference;
    if (frame.listening && !isList) append(frame, text);
    if (!this.#collector || !this.#isInView(frame)) return;
    const at = this.#push([0, frame.depth, 'text', cut(text.trim(), TEXT_LIMIT)], frame.element);
    if (at >= 0) frame.namer?.covered.push(at);
  }

  #asShown(frame: Frame, text: string): string {
    if (!this.#options.styled) return text;
    return this.#reading.styles.transform(frame.element, frame.kind, text);
  }

  #enter(element: Element, parent: Frame, isRoot: boolean): Frame | null {
    this.#visited++;
    const tag = localName(element);
    if (SKIPPED.has(tag) || element === this.#options.except) return null;
    const sight = this.#sightOf(element, tag, parent, isRoot);
    if (sight === 'gone') {
      // What is only set aside still takes up its room.
      const isThere = parent.listening && hasAny(element) && isSetAside(element);
      if (isThere) this.#part(element, tag, parent);
      return null;
    }
    if (tag === 'br' || tag === 'wbr') {
      if (parent.listening) append(parent, ' ');
      return null;
    }
    const frame = this.#open(element, tag, sight, parent, isRoot);
    this.#findChildren(frame);
    if (frame.listening && this.#options.styled) {
      frame.text = this.#reading.styles.before(element, frame.kind);
    }
    return frame;
  }

  #sightOf(element: Element, tag: string, parent: Frame, isRoot: boolean): Sight {
    if (hasAny(element)) {
      if (!isRoot && !this.#options.hidden && isSetAside(element)) return 'gone';
      if (this.#reading.hasOwners) {
        const owner = this.#reading.ownerOf(element);
        if (owner && owner !== parent.element && !isRoot) return 'gone';
      }
    }
    if (this.#options.hidden) return 'shown';
    if (this.#reading.isBehindModal(element)) return 'gone';
    return sightOf(element, tag);
  }

  #roleOf(element: Element, tag: string): string {
    const role = this.#reading.roles.of(element, tag);
    return role === 'none' ? 'generic' : role;
  }

  #open(element: Element, tag: string, sight: Sight, parent: Frame, isRoot: boolean): Frame {
    const reading = this.#reading;
    const subject = tag === 'label' ? (unseenControl(element) ?? element) : element;
    const subjectTag = subject === element ? tag : localName(subject);
    const role = this.#roleOf(subject, subjectTag);
    const given = givenName(element, tag, reading, !this.#options.reference);
    const value = controlValue(subject, subjectTag, role);
    const shown = sight === 'shown';
    const isOpen = given === '' && !this.#isNamedByValue(role, value);
    const becomes = subject !== element ? 'name' : this.#becomes(element, tag, role, given);
    const standIn = isOpen ? leafName(element, tag, role) : value || given;
    const isRead = isRoot || this.#options.reference;
    const isClosed = standIn !== null || (!isRead && isClosedToNames(element, tag, role));
    const frame: Frame = {
      element,
      tag,
      role,
      kind: reading.styles.kindOf(element, tag),
      entry: -1,
      depth: parent.depth,
      shown,
      listening: becomes !== null || (parent.listening && !isClosed),
      becomes,
      standIn: isClosed ? (standIn ?? lastName(element, role)) : null,
      namer: isClosed ? null : parent.namer,
      covered: [],
      pointer: false,
      disabled: parent.disabled || (hasAny(element) && isTrue(element, 'aria-disabled')),
      liveBefore: this.#live,
      next: null,
      list: null,
      at: 0,
      text: '',
      inView: undefined,
    };
    if (becomes !== null) frame.namer = frame;
    if (this.#collector && shown)
      this.#collect(this.#collector, frame, parent, subject, given, value);
    return frame;
  }

  #isNamedByValue(role: string, value: string | null): boolean {
    return NAMED_BY_VALUE.has(role) && value !== null;
  }

  #becomes(element: Element, tag: string, role: string, given: string): 'name' | 'value' | null {
    if (NAMED_BY_CONTENT.has(role) || (role === 'row' && this.#reading.roles.isGridRow(element))) {
      return given === '' && !CHILDLESS.has(tag) && tag !== 'math' ? 'name' : null;
    }
    if (NATIVE_FIELDS.has(tag)) return null;
    // One that cannot have the focus is only the box around a field.
    if (role === 'combobox') return isFocusable(element, tag) ? 'value' : null;
    return role === 'textbox' || role === 'searchbox' ? 'value' : null;
  }

  #collect(
    collector: Collector,
    frame: Frame,
    parent: Frame,
    subject: Element,
    given: string,
    value: string | null,
  ): void {
    const { element, tag, role } = frame;
    if (this.#reading.isAroundModal(element)) return;
    const attributes = hasAny(element);
    frame.pointer = parent.pointer || this.#reading.styles.hasPointer(element, frame.kind);
    const clickable = (frame.pointer && !parent.pointer) || (attributes && listens(element));
    if (role === 'generic' && given === '' && !clickable) return;
    const ref = collector.refs.of(element);
    const name = given === '' && frame.becomes !== 'name' ? lastName(element, role) : given;
    const node: SnapshotNode = [ref, parent.depth, role, asName(name)];
    const flags = flagsOf(subject, subject === element ? tag : localName(subject), role, {
      focused: element === this.#reading.focused,
      clickable: clickable || subject !== element,
      disabledAround: parent.disabled,
      links: collector.links,
    });
    if (value !== null && value !== '') node.push(value);
    if (flags.length > 0) {
      if (node.length === 4) node.push(null);
      node.push(flags);
    }
    frame.entry = this.#push(node, element);
    if (frame.entry < 0) return;
    frame.depth = parent.depth + 1;
    if (role === 'iframe') this.#frames.push({ element, ref, depth: parent.depth });
  }

  #push(node: SnapshotNode, element: Element): number {
    if (!this.#collector || this.#live >= this.#collector.maxNodes) {
      this.#truncated = true;
      return -1;
    }
    this.#live++;
    this.#elements.push(element);
    return this.#nodes.push(node) - 1;
  }

  #drop(at: number): void {
    if (!this.#nodes[at]) return;
    this.#nodes[at] = null;
    this.#live--;
  }

  #leave(frame: Frame, parent: Frame): void {
    if (frame.listening && this.#options.styled) {
      append(frame, this.#reading.styles.after(frame.element, frame.kind));
    }
    if (frame.becomes !== null) this.#takeText(frame, frame.becomes);
    if (parent.listening) this.#contribute(frame, parent);
    if (!this.#collector?.viewport || frame.entry < 0) return;
    if (this.#live === frame.liveBefore + 1 && !this.#isInView(frame)) this.#drop(frame.entry);
  }

  // The text has become a name or a value, and its own nodes would say it twice.
  #takeText(frame: Frame, becomes: 'name' | 'value'): void {
    const limit = becomes === 'name' ? NAME_LIMIT : TEXT_LIMIT;
    const text = cut(tidy(frame.text).trim(), limit);
    const node = this.#nodes[frame.entry];
    if (!node) return;
    if (becomes === 'name') node[3] = text || asName(lastName(frame.element, frame.role));
    else if (text !== '') node[4] = text;
    if (text.length < limit) for (const at of frame.covered) this.#drop(at);
  }

  #contribute(frame: Frame, parent: Frame): void {
    const { element, tag, kind, role } = frame;
    // What has been typed stands for a field, not what the field is called.
    const typed = frame.becomes === 'value' && !isBlank(frame.text) ? frame.text : null;
    const standIn = typed ?? frame.standIn;
    if (standIn) {
      append(parent, ` ${standIn} `);
      return;
    }
    const text = standIn ?? (frame.text || lastName(element, role));
    if (text === '') {
      this.#part(element, tag, parent, kind);
      return;
    }
    if (role === 'option' && !this.#isBase(parent) && !isChosen(element)) return;
    const isApart = CONTROLS.has(role) || this.#reading.styles.isSpaced(element, kind);
    append(parent, isApart ? ` ${text} ` : text);
  }

  // A box without text keeps the texts beside it apart.
  #part(element: Element, tag: string, parent: Frame, known?: Kind): void {
    if (parent.text === '') return;
    const { styles } = this.#reading;
    const isField = NATIVE_FIELDS.has(tag) || tag === 'output';
    if (isField || styles.isParting(element, known ?? styles.kindOf(element, tag))) {
      append(parent, ' ');
    }
  }

  #isBase(frame: Frame): boolean {
    return frame.tag === '';
  }

  #isInView(frame: Frame): boolean {
    const viewport = this.#collector?.viewport;
    if (!viewport) return true;
    if (frame.inView === undefined) {
      const { left, top, right, bottom } = rectOf(frame.element);
      frame.inView =
        right > 0 && bottom > 0 && left < viewport.width && top < viewport.height && right > left;
    }
    return frame.inView;
  }

  #findChildren(frame: Frame): void {
    const { element, tag } = frame;
    if (CHILDLESS.has(tag) || (tag === 'svg' && !hasGraphicContent(element))) return;
    if (tag === 'details' && !has(element, 'open')) {
      const summary = summaryOf(element);
      if (summary) frame.list = [summary];
      return;
    }
    if (tag === 'slot' && element instanceof HTMLSlotElement) {
      const assigned = element.assignedNodes();
      if (assigned.length > 0) {
        frame.list = assigned;
        return;
      }
    }
    const shadow = shadowRootOf(element, tag);
    const fold = this.#collector?.folds && !shadow ? foldOf(element, tag) : null;
    if (fold) {
      this.#collector?.folds?.push(fold);
      frame.list = [fold.first, fold.last];
      return;
    }
    frame.next = firstChild(shadow ?? element);
    if (!this.#reading.hasOwners) return;
    const owned = ownedBy(element, this.#reading);
    if (owned.length > 0) frame.list = [...childrenFrom(frame.next), ...owned];
  }
}

function baseFrame(root: Element, listening: boolean): Frame {
  const parent = parentElement(root);
  return {
    element: root,
    tag: '',
    role: 'generic',
    kind: {},
    entry: -1,
    depth: 0,
    shown: true,
    listening,
    becomes: null,
    standIn: null,
    namer: null,
    covered: [],
    pointer: false,
    disabled: parent !== null && closest(parent, '[aria-disabled="true" i]') !== null,
    liveBefore: 0,
    next: null,
    list: null,
    at: 0,
    text: '',
    inView: undefined,
  };
}

function nextChild(frame: Frame): Node | null {
  if (frame.list) return frame.list[frame.at++] ?? null;
  const node = frame.next;
  if (node) frame.next = nextSibling(node);
  return node;
}

function* childrenFrom(first: Node | null): Iterable<Node> {
  for (let child = first; child; child = nextSibling(child)) yield child;
}

function append(frame: Frame, text: string): void {
  if (frame.text.length < TEXT_LIMIT) frame.text += text;
}

const BLANK = /^[ \t\n\r\f]*$/;

function isBlank(text: string): boolean {
  return text.length < 1000 ? BLANK.test(text) : text.trim() === '';
}

/** The control of a label that is all there is to see of it. */
function unseenControl(label: Element): Element | null {
  const control = label instanceof HTMLLabelElement ? label.control : null;
  if (!(control instanceof HTMLInputElement) || control.type === 'hidden') return null;
  return sightOf(control, 'input') === 'shown' ? null : control;
}

function summaryOf(details: Element): Element | null {
  let child = firstElementChild(details);
  while (child && localName(child) !== 'summary') child = nextElementSibling(child);
  return child;
}
