/** Tools `undo` and `redo`: steps back, whoever made them, and forward again. */

import { integer, optional } from '../arguments';
import { HISTORY_STEPS } from '../history';
import { defineTool } from './tool';

export const undo = defineTool({
  name: 'undo',
  description: 'Undo the last steps, default 1',
  args: { steps: optional(integer({ min: 1, max: HISTORY_STEPS }), 1) },

  run({ store }, { steps }) {
    const undone = store.undo(steps, 'client');
    if (undone === 0) throw new Error('there is nothing to undo');
    return { ok: true, undone, left: store.steps };
  },
});

export const redo = defineTool({
  name: 'redo',
  description: 'Redo what was undone last',
  args: {},

  run({ store }) {
    if (store.redo('client') === 0) {
      throw new Error('there is nothing to redo; only what was undone last can be redone');
    }
    return { ok: true, left: store.steps };
  },
});
