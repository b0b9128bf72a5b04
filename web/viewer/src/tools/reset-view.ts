/**
 * Tool `reset_view`: rotation, scale and camera as they were at first; with `what: all` colours,
 * background and lights too. The model stays, and it can be undone.
 */

import { choice, optional } from '../arguments';
import { asBuiltinName } from '../models/names';
import { type Change, INITIAL_STATE } from '../state';
import { defineTool, type Room } from './tool';

/** A file shows its own colours under white. */
const UNTINTED = '#ffffff';

export const resetView = defineTool({
  name: 'reset_view',
  description: 'Reset rotation, scale, camera; what=all: also colours and lights',
  args: { what: optional(choice(['view', 'all']), 'view') },

  run(room, { what }) {
    room.store.change(what === 'view' ? viewReset() : fullReset(room), 'client');
    return { ok: true };
  },
});

/** Returns the change that resets what is seen of the model, and from where. */
export function viewReset(): Change {
  return { type: 'view', of: INITIAL_STATE };
}

/** Returns the change that resets all but the model, which gets the colour it came in. */
export function fullReset({ store, builtin }: Pick<Room, 'store' | 'builtin'>): Change {
  const { name, source } = store.state.model;
  const known = asBuiltinName(source.replace('builtin:', ''));
  const color = known === undefined ? UNTINTED : builtin(known).color;
  const model = { ...INITIAL_STATE.model, name, source, color };
  return { type: 'all', state: { ...INITIAL_STATE, model } };
}
