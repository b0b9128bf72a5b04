/**
 * Which role an element has: what the page says, else what its tag means where it stands.
 *
 * One `Roles` serves one reading: it remembers what it found out about tables. Names are asked for
 * only where a role depends on one (`section`, `region`).
 */

import {
  attribute,
  closest,
  firstElementChild,
  has,
  hasAny,
  isContentEditable,
  isTrue,
  localName,
  namespace,
  nextElementSibling,
  parentElement,
  previousElementSibling,
  queryAll,
  SVG,
} from './dom';
import { INPUT_ROLES, NEEDS_ANCESTOR, readRole, TAG_ROLES } from './role-tables';
import { flatParent } from './shadow';
import { isDataTable } from './tables';

type TableKind = 'table' | 'grid' | 'layout';

export class Roles {
  readonly #tables = new Map<Element, TableKind>();

  /** Returns the role; `generic` for what has none, `none` for what must not have one. */
  of(element: Element, name = localName(element)): string {
    const written = hasAny(element) ? attribute(element, 'role') : null;
    const role = written === null ? null : readRole(written);
    if (role === null) return this.#byTag(element, name);
    if (role === 'none') {
      return isKeptFromNone(element, name) ? this.#byTag(element, name) : 'none';
    }
    if ((role === 'region' || role === 'form') && !isNamedByPage(element)) {
      return name === role ? role : 'generic';
    }
    return lacksAncestor(element, role) ? this.#byTag(element, name) : role;
  }

  #byTag(element: Element, name: string): string {
    const role = TAG_ROLES.get(name);
    if (role !== undefined) return role;
    switch (name) {
      case 'a':
      case 'area':
        return has(element, 'href') || has(element, 'xlink:href') || has(element, 'onclick')
          ? 'link'
          : 'generic';
      case 'input':
        return inputRole(element);
      case 'select':
        return isListbox(element) ? 'listbox' : 'combobox';
      case 'img':
      case 'image':
        return imageRole(element);
      case 'li':
        return isInForeignList(element) ? 'none' : 'listitem';
      case 'summary':
        return isSummary(element) ? 'button' : 'generic';
      case 'section':
        return isNamedByPage(element) ? 'region' : 'generic';
      case 'header':
        return isInSection(element) ? 'sectionheader' : 'banner';
      case 'footer':
        return isInSection(element) ? 'sectionfooter' : 'contentinfo';
      case 'aside':
        return isNamedByPage(element) || !isInside(element, SECTIONS) ? 'complementary' : 'generic';
      case 'td':
      case 'th':
      case 'tr':
      case 'thead':
      case 'tfoot':
      case 'caption':
      case 'table':
        return this.#tablePart(element, name);
      case 'svg':
        return isPicture(element) ? 'img' : 'generic';
      default:
        return this.#other(element);
    }
  }

  #other(element: Element): string {
    if (namespace(element) === SVG) return graphicsRole(element);
    if (!hasAny(element)) return 'generic';
    if (isEditingHost(element)) return 'textbox';
    return isTrue(element, 'draggable') ? 'group' : 'generic';
  }

  #tablePart(element: Element, name: string): string {
    const table = name === 'table' ? element : closest(element, 'table');
    const kind = table ? this.#tableKind(table) : 'layout';
    if (kind === 'layout') return 'generic';
    switch (name) {
      case 'table':
        return kind;
      case 'tr':
        return 'row';
      case 'caption':
        return 'caption';
      case 'td':
        return isInPlainRow(element) ? 'generic' : kind === 'grid' ? 'gridcell' : 'cell';
      case 'th':
        return isInPlainRow(element) ? 'generic' : headerRole(element);
      default:
        return 'rowgroup';
    }
  }

  #tableKind(table: Element): TableKind {
    let kind = this.#tables.get(table);
    if (kind === undefined) {
      kind = findTableKind(table);
      this.#tables.set(table, kind);
    }
    return kind;
  }

  /** Whether a row is named by its cells: only in grids. */
  isGridRow(element: Element): boolean {
    let parent = flatParent(element);
    for (let steps = 0; parent && steps < 8; steps++) {
      const written = attribute(parent, 'role');
      const role = written === null ? null : readRole(written);
      if (role === 'grid' || role === 'treegrid') return true;
      if (role === 'table' || (localName(parent) === 'table' && role !== 'none')) return false;
      parent = flatParent(parent);
    }
    return false;
  }
}

/** Whether it is where editing begins: what is in it is part of it. */
export function isEditingHost(element: Element): boolean {
  const editable = attribute(element, 'contenteditable')?.toLowerCase();
  if (editable === undefined || editable === 'false' || editable === 'inherit') return false;
  if (editable !== '' && editable !== 'true' && editable !== 'plaintext-only') return false;
  const parent = parentElement(element);
  return !(parent instanceof HTMLElement && isContentEditable(parent));
}

/** Whether it can have the focus, as far as attributes tell. */
export function isFocusable(element: Element, name: string): boolean {
  if (has(element, 'tabindex')) return Number.isFinite(Number(attribute(element, 'tabindex')));
  switch (name) {
    case 'a':
    case 'area':
      return has(element, 'href');
    case 'button':
    case 'select':
    case 'textarea':
      return !has(element, 'disabled');
    case 'input':
      return !has(element, 'disabled') && attribute(element, 'type')?.toLowerCase() !== 'hidden';
    case 'summary':
      return isSummary(element);
    case 'iframe':
      return false;
    default:
      return isEditingHost(element);
  }
}

/** Whether it opens and closes its `<details>`. */
export function isSummary(element: Element): boolean {
  const parent = parentElement(element);
  if (!parent || localName(parent) !== 'details') return false;
  let child = firstElementChild(parent);
  while (child && localName(child) !== 'summary') child = nextElementSibling(child);
  return child === element;
}

// These make `role="none"` void.
const GLOBAL_ARIA = [
  'aria-label',
  'aria-labelledby',
  'aria-describedby',
  'aria-controls',
  'aria-owns',
  'aria-live',
  'aria-details',
  'aria-current',
  'aria-atomic',
  'aria-busy',
  'aria-flowto',
  'aria-keyshortcuts',
  'aria-relevant',
  'aria-roledescription',
];

function isKeptFromNone(element: Element, name: string): boolean {
  if (isFocusable(element, name)) return true;
  return name !== 'img' && GLOBAL_ARIA.some((global) => has(element, global));
}

function isNamedByPage(element: Element): boolean {
  if (!hasAny(element)) return false;
  return (
    (attribute(element, 'aria-label') ?? '').trim() !== '' ||
    has(element, 'aria-labelledby') ||
    (attribute(element, 'title') ?? '').trim() !== ''
  );
}

function lacksAncestor(element: Element, role: string): boolean {
  const wanted = NEEDS_ANCESTOR.get(role);
  if (!wanted || localName(element) === 'option') return false;
  let parent = flatParent(element);
  for (let steps = 0; parent && steps < 20; steps++) {
    const written = attribute(parent, 'role');
    const parentRole = (written && readRole(written)) ?? TAG_ROLES.get(localName(parent));
    if (parentRole && wanted.has(parentRole)) return false;
    parent = flatParent(parent);
  }
  return !isOwned(element);
}

function isOwned(element: Element): boolean {
  const id = attribute(element, 'id');
  if (!id) return false;
  return queryAll(document, `[aria-owns~=${CSS.escape(id)}]`).length > 0;
}

function inputRole(element: Element): string {
  const type = attribute(element, 'type')?.toLowerCase() ?? 'text';
  if (type === 'hidden') return 'none';
  const role = INPUT_ROLES.get(type);
  if (role !== undefined) {
    return role === 'button' && has(element, 'aria-haspopup') ? 'button' : role;
  }
  return has(element, 'list') ? 'combobox' : 'textbox';
}

function isListbox(element: Element): boolean {
  if (has(element, 'multiple')) return true;
  return Number.parseInt(attribute(element, 'size') ?? '', 10) > 1;
}

// `alt=""` means decoration, unless something else says that it matters.
function imageRole(element: Element): string {
  if (attribute(element, 'alt') !== '') return 'img';
  const matters = ['aria-label', 'aria-labelledby', 'title', 'tabindex'].some((sign) =>
    has(element, sign),
  );
  return matters ? 'img' : 'none';
}

function isInForeignList(element: Element): boolean {
  const parent = parentElement(element);
  if (!parent || !hasAny(parent)) return false;
  const written = attribute(parent, 'role');
  const role = written === null ? null : readRole(written);
  const name = localName(parent);
  if (name !== 'ul' && name !== 'ol' && name !== 'menu') return false;
  if (role === 'none') return !isKeptFromNone(parent, name);
  return role !== null && role !== 'list';
}

const SECTIONS = new Set(['article', 'aside', 'nav', 'section']);
const SECTIONS_AND_MAIN = new Set([...SECTIONS, 'main']);
const SECTION_ROLES = new Set(['article', 'complementary', 'main', 'navigation']);

function isInSection(element: Element): boolean {
  return isInside(element, SECTIONS_AND_MAIN);
}

function isInside(element: Element, names: ReadonlySet<string>): boolean {
  let parent = flatParent(element);
  while (parent) {
    if (names.has(localName(parent))) return true;
    const role = hasAny(parent) ? attribute(parent, 'role') : null;
    if (role !== null && names === SECTIONS_AND_MAIN && SECTION_ROLES.has(role)) return true;
    parent = flatParent(parent);
  }
  return false;
}

function graphicsRole(element: Element): string {
  const isNamed =
    has(element, 'aria-label') || has(element, 'aria-labelledby') || hasTitle(element);
  if (!isNamed) return 'generic';
  const name = localName(element);
  if (name === 'g') return 'group';
  return name === 'text' || name === 'tspan' || name === 'foreignObject'
    ? 'generic'
    : 'graphics-symbol';
}

const GRAPHIC_CONTENT =
  'text, a, foreignObject, image, [aria-label], [role], [tabindex], :scope > * title';

/** Whether there is more in an SVG picture than shapes. */
export function hasGraphicContent(svg: Element): boolean {
  return queryAll(svg, GRAPHIC_CONTENT).length > 0;
}

// One that is named, or shapes and nothing else.
function isPicture(svg: Element): boolean {
  if (hasTitle(svg) || isNamedByPage(svg)) return true;
  return firstElementChild(svg) !== null && !hasGraphicContent(svg);
}

/** Whether an SVG element has a `<title>` of its own. */
export function hasTitle(element: Element): boolean {
  const child = firstElementChild(element);
  return child !== null && localName(child) === 'title';
}

function isInPlainRow(cell: Element): boolean {
  const row = parentElement(cell);
  if (!row || localName(row) !== 'tr' || !hasAny(row)) return false;
  const written = attribute(row, 'role');
  return written !== null && (readRole(written) ?? 'row') !== 'row';
}

function headerRole(header: Element): string {
  switch (attribute(header, 'scope')?.toLowerCase()) {
    case 'row':
    case 'rowgroup':
      return 'rowheader';
    case 'col':
    case 'colgroup':
      return 'columnheader';
    default:
      break;
  }
  const before = previousElementSibling(header);
  const after = nextElementSibling(header);
  const isHeader = (cell: Element | null) => cell !== null && localName(cell) === 'th';
  if (isHeader(before) || isHeader(after)) return 'columnheader';
  return before || after ? 'rowheader' : 'columnheader';
}

function findTableKind(table: Element): TableKind {
  const written = attribute(table, 'role');
  const role = written === null ? null : readRole(written);
  if (role === 'grid' || role === 'treegrid') return 'grid';
  if (role === 'table') return 'table';
  if (role === 'none') return isKeptFromNone(table, 'table') ? guessTableKind(table) : 'layout';
  if (role !== null) return 'layout';
  return guessTableKind(table);
}

function guessTableKind(table: Element): TableKind {
  return table instanceof HTMLTableElement && isDataTable(table) ? 'table' : 'layout';
}
