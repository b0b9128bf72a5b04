/**
 * A drawing that people make with the pointer and AI clients with tools.
 *
 * Its state is kept in a store like Redux's, in a few lines. Serve the repository's folder on this
 * machine and open `/examples/canvas/`. Build first: `npm run build` in `web/`.
 */

import { connect, redux } from '../../web/sdk/dist/index.js';
import { hub, showStatus } from '../show-status.js';

const canvas = document.getElementById('canvas');
const pen = canvas.getContext('2d', { willReadFrequently: true });
const { width, height } = canvas;

/** Changes the drawing; what is not known changes nothing. */
function reduce(state, action) {
  switch (action.type) {
    case 'draw':
      return { ...state, shapes: [...state.shapes, action.shape] };
    case 'extend': {
      const last = state.shapes.at(-1);
      const longer = { ...last, points: [...last.points, action.point] };
      return { ...state, shapes: [...state.shapes.slice(0, -1), longer] };
    }
    case 'undo':
      return { ...state, shapes: state.shapes.slice(0, -1) };
    case 'clear':
      return { ...state, shapes: [] };
    default:
      return state;
  }
}

function createStore(state) {
  const listeners = new Set();
  return {
    getState: () => state,
    dispatch(action) {
      state = reduce(state, action);
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const store = createStore({ width, height, shapes: [] });

function paint(shape) {
  pen.fillStyle = pen.strokeStyle = shape.color;
  switch (shape.kind) {
    case 'rectangle':
      pen.fillRect(shape.x, shape.y, shape.width, shape.height);
      return;
    case 'ellipse': {
      const [across, down] = [shape.width / 2, shape.height / 2];
      pen.beginPath();
      pen.ellipse(shape.x + across, shape.y + down, across, down, 0, 0, 2 * Math.PI);
      pen.fill();
      return;
    }
    case 'line':
      pen.lineWidth = 4;
      pen.lineCap = pen.lineJoin = 'round';
      pen.beginPath();
      for (const [x, y] of shape.points) pen.lineTo(x, y);
      pen.stroke();
  }
}

function render() {
  const { shapes } = store.getState();
  pen.clearRect(0, 0, width, height);
  for (const shape of shapes) paint(shape);
  document.getElementById('count').textContent = `${shapes.length} shapes`;
}

/** Returns where an event is on the canvas, which may be shown smaller than it is. */
function pointOf(event) {
  const box = canvas.getBoundingClientRect();
  const scale = width / box.width;
  return [
    Math.round((event.clientX - box.left) * scale),
    Math.round((event.clientY - box.top) * scale),
  ];
}

canvas.addEventListener('pointerdown', (event) => {
  canvas.setPointerCapture(event.pointerId);
  const color = document.getElementById('color').value;
  store.dispatch({ type: 'draw', shape: { kind: 'line', color, points: [pointOf(event)] } });
});
canvas.addEventListener('pointermove', (event) => {
  if (canvas.hasPointerCapture(event.pointerId))
    store.dispatch({ type: 'extend', point: pointOf(event) });
});
for (const type of ['undo', 'clear']) {
  document.getElementById(type).addEventListener('click', () => store.dispatch({ type }));
}
store.subscribe(render);
render();

const across = { type: 'number', minimum: 0, maximum: width };
const down = { type: 'number', minimum: 0, maximum: height };
const color = { type: 'string', pattern: '^#[0-9a-fA-F]{6}$', description: '#rrggbb' };

connect({
  name: 'canvas',
  hub,
  state: redux(store),
  onStatus: showStatus,
  tools: [
    {
      name: 'draw_shape',
      description: `Draws a filled rectangle or ellipse; the canvas is ${width} by ${height}, x to the right, y down.`,
      inputSchema: {
        type: 'object',
        properties: {
          kind: { type: 'string', enum: ['rectangle', 'ellipse'] },
          x: across,
          y: down,
          width: across,
          height: down,
          color,
        },
        required: ['kind', 'x', 'y', 'width', 'height', 'color'],
        additionalProperties: false,
      },
      run: (shape) => store.dispatch({ type: 'draw', shape }),
    },
    {
      name: 'draw_line',
      description: 'Draws a line through points.',
      inputSchema: {
        type: 'object',
        properties: {
          points: {
            type: 'array',
            description: 'at least two, each [x, y]',
            items: { type: 'array', items: { type: 'number' } },
          },
          color,
        },
        required: ['points', 'color'],
        additionalProperties: false,
      },
      run: ({ points, color }) => {
        if (points.length < 2 || points.some((point) => point.length !== 2)) {
          throw new Error('a line needs at least two points, each [x, y]');
        }
        store.dispatch({ type: 'draw', shape: { kind: 'line', color, points } });
      },
    },
    {
      name: 'undo_drawing',
      description: 'Takes back the newest shape.',
      run: () => {
        store.dispatch({ type: 'undo' });
        return { shapes: store.getState().shapes.length };
      },
    },
    {
      name: 'clear_canvas',
      description: 'Takes back everything.',
      run: () => store.dispatch({ type: 'clear' }),
    },
    {
      name: 'pick_color',
      description: 'Tells the colour of a point.',
      readOnly: true,
      inputSchema: {
        type: 'object',
        properties: { x: { ...across, maximum: width - 1 }, y: { ...down, maximum: height - 1 } },
        required: ['x', 'y'],
        additionalProperties: false,
      },
      run: ({ x, y }) => {
        const [red, green, blue, alpha] = pen.getImageData(x, y, 1, 1).data;
        const hex = (part) => part.toString(16).padStart(2, '0');
        return { color: alpha === 0 ? '#ffffff' : `#${hex(red)}${hex(green)}${hex(blue)}` };
      },
    },
  ],
});
