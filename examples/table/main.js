/**
 * A table that people and AI clients sort, filter and edit together.
 *
 * Its state is a function: the page says `changed()` when a person has changed something, and after
 * tools the link looks by itself. Serve the repository's folder on this machine and open
 * `/examples/table/`. Build first: `npm run build` in `web/`.
 */

import { connect } from '../../web/sdk/dist/index.js';
import { hub, showStatus } from '../show-status.js';

const COLUMNS = { name: 'string', range: 'string', height: 'number', climbed: 'number' };
const rows = [
  { id: 1, name: 'Mont Blanc', range: 'Alps', height: 4806, climbed: 1786 },
  { id: 2, name: 'Kilimanjaro', range: 'Eastern Rift', height: 5895, climbed: 1889 },
  { id: 3, name: 'Denali', range: 'Alaska Range', height: 6190, climbed: 1913 },
  { id: 4, name: 'Aconcagua', range: 'Andes', height: 6961, climbed: 1897 },
  { id: 5, name: 'Matterhorn', range: 'Alps', height: 4478, climbed: 1865 },
  { id: 6, name: 'Everest', range: 'Himalaya', height: 8849, climbed: 1953 },
];
const view = { sort: { column: 'height', direction: 'descending' }, filter: '' };
const byId = (id) => document.getElementById(id);

function matches(row, text) {
  const words = Object.keys(COLUMNS).map((column) => `${row[column]}`.toLowerCase());
  return words.some((word) => word.includes(text.toLowerCase()));
}

function visible() {
  const { column, direction } = view.sort;
  const sign = direction === 'ascending' ? 1 : -1;
  const order = (left, right) =>
    left[column] < right[column] ? -sign : left[column] > right[column] ? sign : 0;
  return rows.filter((row) => matches(row, view.filter)).sort(order);
}

function find(id) {
  const row = rows.find((one) => one.id === id);
  if (row !== undefined) return row;
  const ids = rows.map((one) => one.id).join(', ');
  throw Object.assign(new Error(`there is no row ${id}; there are ${ids}`), { code: 'NOT_FOUND' });
}

function setCell(row, column, value) {
  const wanted = COLUMNS[column];
  const fits = wanted === 'number' ? Number.isFinite(value) : typeof value === 'string';
  if (!fits) throw new Error(`${column} must be a ${wanted}, not ${JSON.stringify(value)}`);
  row[column] = value;
}

function heading(column) {
  const cell = Object.assign(document.createElement('th'), { textContent: column });
  cell.className = COLUMNS[column];
  if (view.sort.column === column) cell.setAttribute('aria-sort', view.sort.direction);
  cell.addEventListener('click', () => {
    const again = view.sort.column === column && view.sort.direction === 'ascending';
    view.sort = { column, direction: again ? 'descending' : 'ascending' };
    byHand();
  });
  return cell;
}

function cell(row, column) {
  const cell = Object.assign(document.createElement('td'), { textContent: row[column] });
  cell.className = COLUMNS[column];
  cell.contentEditable = 'plaintext-only';
  cell.addEventListener('blur', () => {
    const text = cell.textContent.trim();
    if (text === `${row[column]}`) return;
    const value = COLUMNS[column] === 'number' ? Number(text) : text;
    if (text !== '' && !Number.isNaN(value)) setCell(row, column, value);
    byHand();
  });
  return cell;
}

function render() {
  const columns = Object.keys(COLUMNS);
  const shown = visible();
  byId('head').replaceChildren(...columns.map(heading));
  byId('body').replaceChildren(
    ...shown.map((row) => {
      const line = document.createElement('tr');
      line.append(...columns.map((column) => cell(row, column)));
      return line;
    }),
  );
  byId('count').textContent = `${shown.length} of ${rows.length}`;
  if (document.activeElement !== byId('filter')) byId('filter').value = view.filter;
}

/** A person has changed something. */
function byHand() {
  render();
  link.changed();
}

/** Shows what a tool has done; the link looks at the state by itself. */
function shown(result) {
  render();
  return result;
}

byId('filter').addEventListener('input', ({ target }) => {
  view.filter = target.value;
  byHand();
});

const column = { type: 'string', enum: Object.keys(COLUMNS) };
const direction = { type: 'string', enum: ['ascending', 'descending'] };
const objectOf = (properties, required) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const link = connect({
  name: 'table',
  hub,
  state: () => ({ ...view, total: rows.length, visible: visible() }),
  onStatus: showStatus,
  tools: [
    {
      name: 'sort_rows',
      description: 'Sorts the table by a column.',
      inputSchema: objectOf({ column, direction }, ['column']),
      run: ({ column, direction = 'ascending' }) => {
        view.sort = { column, direction };
        return shown(visible().map((row) => row.name));
      },
    },
    {
      name: 'filter_rows',
      description: 'Shows only rows that have a text in any column; an empty text shows all.',
      inputSchema: objectOf({ text: { type: 'string' } }, ['text']),
      run: ({ text }) => {
        view.filter = text;
        return shown({ visible: visible().length });
      },
    },
    {
      name: 'find_rows',
      description: 'Returns rows that have a text in any column, shown or not.',
      readOnly: true,
      inputSchema: objectOf({ text: { type: 'string' } }, ['text']),
      run: ({ text }) => rows.filter((row) => matches(row, text)),
    },
    {
      name: 'set_cell',
      description: 'Changes one cell.',
      inputSchema: objectOf(
        {
          id: { type: 'integer', description: 'which row' },
          column,
          value: { type: ['string', 'number'] },
        },
        ['id', 'column', 'value'],
      ),
      run: ({ id, column, value }) => {
        setCell(find(id), column, value);
        return shown(find(id));
      },
    },
    {
      name: 'add_row',
      description: 'Adds a mountain.',
      inputSchema: objectOf(
        {
          name: { type: 'string', pattern: '\\S' },
          range: { type: 'string' },
          height: { type: 'number', minimum: 0, maximum: 9000, description: 'metres' },
          climbed: { type: 'integer', description: 'year of the first ascent' },
        },
        ['name', 'range', 'height', 'climbed'],
      ),
      run: (row) => {
        const added = { id: 1 + Math.max(...rows.map((one) => one.id)), ...row };
        rows.push(added);
        return shown(added);
      },
    },
  ],
});
render();
