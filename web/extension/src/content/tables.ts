/**
 * Tells tables of data from those that are there for the layout, as Chrome guesses it.
 *
 * Asked only for tables whose role the page does not say. Signs in the markup come first; borders
 * and colours are looked at where there are none, and only in the first cells.
 */

import { attribute, closest, localName, queryAll } from './dom';

const MANY_ROWS = 20;
const LOOKED_AT_CELLS = 40;
const LOOKED_AT_ROWS = 5;
const SIGNS = 'th, td[headers], td[abbr], td[scope]';

/** Whether the table looks like one of data. */
export function isDataTable(table: HTMLTableElement): boolean {
  if (table.isContentEditable || table.caption || table.tHead || table.tFoot) return true;
  if (attribute(table, 'summary') || attribute(table, 'rules')) return true;
  if (queryAll(table, ':scope > col, :scope > colgroup').length > 0) return true;
  const { rows } = table;
  if (rows.length >= MANY_ROWS) return true;
  const columns = rows[0]?.cells.length ?? 0;
  if (columns === 0 || (rows.length === 1 && columns === 1)) return false;
  for (const found of queryAll(table, SIGNS)) {
    if (closest(found, 'table') === table && !isBareSign(found)) return true;
  }
  return hasMarkedCells(table) || isStriped(rows);
}

// An attribute that is there but says nothing.
function isBareSign(cell: Element): boolean {
  if (localName(cell) === 'th') return false;
  return ['headers', 'abbr', 'scope'].every((name) => !attribute(cell, name));
}

// Half of the cells with borders, or with a colour of their own and a gap between them.
function hasMarkedCells(table: HTMLTableElement): boolean {
  const tableStyle = getComputedStyle(table);
  const hasGaps =
    tableStyle.borderCollapse !== 'collapse' && !/\b0px\b/.test(tableStyle.borderSpacing);
  const bordered = [0, 0, 0, 0];
  let coloured = 0;
  let cells = 0;
  for (const cell of firstCells(table)) {
    cells++;
    const style = getComputedStyle(cell);
    bordersOf(style).forEach((isThere, side) => {
      if (isThere) bordered[side] = (bordered[side] ?? 0) + 1;
    });
    const colour = style.backgroundColor;
    if (hasGaps && colour !== tableStyle.backgroundColor && !isTransparent(colour)) coloured++;
  }
  const half = Math.floor(cells / 2);
  return cells > 1 && [...bordered, coloured].some((count) => count >= half && count > 0);
}

function* firstCells(table: HTMLTableElement): Iterable<Element> {
  let count = 0;
  for (const row of table.rows) {
    for (const cell of row.cells) {
      if (count++ === LOOKED_AT_CELLS) return;
      yield cell;
    }
  }
}

function bordersOf(style: CSSStyleDeclaration): boolean[] {
  const widths = [
    style.borderTopWidth,
    style.borderRightWidth,
    style.borderBottomWidth,
    style.borderLeftWidth,
  ];
  return widths.map((width) => Number.parseFloat(width) > 0);
}

function isTransparent(colour: string): boolean {
  return colour === 'transparent' || /^rgba\(.*, 0\)$/.test(colour);
}

// Rows in two colours, by turns.
function isStriped(rows: HTMLCollectionOf<HTMLTableRowElement>): boolean {
  const colours = [...rows]
    .slice(0, LOOKED_AT_ROWS)
    .map((row) => getComputedStyle(row).backgroundColor);
  if (colours.length < 3) return false;
  return colours.every((colour, at) => (colour === colours[0]) === (at % 2 === 0));
}
