/**
 * A todo list that people and AI clients share: one plain object is the state, and both change it.
 *
 * Serve the repository's folder on this machine and open `/examples/todo/`. Build first:
 * `npm run build` in `web/`.
 */

import { connect, plain } from '../../web/sdk/dist/index.js';
import { hub, showStatus } from '../show-status.js';

const byId = (id) => document.getElementById(id);
const store = plain({
  show: 'all',
  todos: [
    { id: 1, title: 'Water the plants', done: false },
    { id: 2, title: 'Return the library books', done: true },
  ],
});
const state = store.value;

function find(id) {
  const todo = state.todos.find((one) => one.id === id);
  if (todo !== undefined) return todo;
  const ids = state.todos.map((one) => one.id).join(', ') || 'none';
  throw Object.assign(new Error(`there is no todo ${id}; there are ${ids}`), { code: 'NOT_FOUND' });
}

function add(title) {
  const id = 1 + Math.max(0, ...state.todos.map((todo) => todo.id));
  state.todos.push({ id, title, done: false });
  return state.todos.at(-1);
}

function remove(id) {
  state.todos.splice(state.todos.indexOf(find(id)), 1);
}

function isShown(todo) {
  return state.show === 'all' || (state.show === 'done') === todo.done;
}

function item(todo) {
  const line = document.createElement('li');
  line.dataset.done = todo.done;
  const box = Object.assign(document.createElement('input'), {
    type: 'checkbox',
    checked: todo.done,
  });
  box.setAttribute('aria-label', todo.title);
  box.addEventListener('change', () => {
    todo.done = box.checked;
  });
  const title = Object.assign(document.createElement('span'), { textContent: todo.title });
  const bin = Object.assign(document.createElement('button'), {
    textContent: '✕',
    title: 'Remove',
  });
  bin.addEventListener('click', () => remove(todo.id));
  line.append(box, title, bin);
  return line;
}

function render() {
  byId('list').replaceChildren(...state.todos.filter(isShown).map(item));
  byId('left').textContent = `${state.todos.filter((todo) => !todo.done).length} left`;
  for (const button of byId('filters').querySelectorAll('button')) {
    button.setAttribute('aria-pressed', button.dataset.show === state.show);
  }
}

byId('new').addEventListener('submit', (event) => {
  event.preventDefault();
  const title = byId('title').value.trim();
  if (title !== '') add(title);
  byId('title').value = '';
});
byId('filters').addEventListener('click', ({ target }) => {
  if (target.dataset.show !== undefined) state.show = target.dataset.show;
});
store.subscribe(render);
render();

const id = { type: 'integer', minimum: 1, description: 'which, as in the state' };

connect({
  name: 'todo',
  hub,
  state: store,
  onStatus: showStatus,
  tools: [
    {
      name: 'add_todo',
      description: 'Adds a todo to the end of the list.',
      inputSchema: {
        type: 'object',
        properties: { title: { type: 'string', pattern: '\\S' } },
        required: ['title'],
        additionalProperties: false,
      },
      run: ({ title }) => add(title.trim()),
    },
    {
      name: 'check_todo',
      description: 'Marks a todo as done, or as open again.',
      inputSchema: {
        type: 'object',
        properties: { id, done: { type: 'boolean', description: 'default: true' } },
        required: ['id'],
        additionalProperties: false,
      },
      run: ({ id, done = true }) => Object.assign(find(id), { done }),
    },
    {
      name: 'remove_todo',
      description: 'Removes a todo.',
      inputSchema: {
        type: 'object',
        properties: { id },
        required: ['id'],
        additionalProperties: false,
      },
      run: ({ id }) => remove(id),
    },
    {
      name: 'show_todos',
      description: 'Chooses which todos the page shows.',
      inputSchema: {
        type: 'object',
        properties: { which: { type: 'string', enum: ['all', 'open', 'done'] } },
        required: ['which'],
        additionalProperties: false,
      },
      run: ({ which }) => {
        state.show = which;
      },
    },
  ],
});
