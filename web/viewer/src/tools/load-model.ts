/**
 * Tool `load_model`: shows a built-in model, or a glTF or GLB file from an address.
 *
 * Answers when the model is there. Files keep their own colours, so the model's colour becomes
 * white.
 */

import { ArgumentError, choice, optional, text } from '../arguments';
import { BUILTIN_NAMES } from '../models/names';
import { defineTool } from './tool';

export const loadModel = defineTool({
  name: 'load_model',
  description: `Show a model: builtin (${BUILTIN_NAMES.join(', ')}) or url of a .glb or .gltf`,
  args: { builtin: optional(choice(BUILTIN_NAMES)), url: optional(text(2000)) },

  async run(room, { builtin, url }, { signal }) {
    if ((builtin === undefined) === (url === undefined)) {
      const names = BUILTIN_NAMES.join(', ');
      throw new ArgumentError(
        `give either \`builtin\` (one of ${names}) or \`url\` (an address of a .glb or .gltf file)`,
      );
    }
    const model = builtin === undefined ? await room.fetchModel(url ?? '') : room.builtin(builtin);
    // What was withdrawn while it loaded must not be shown all the same.
    signal.throwIfAborted();
    room.store.change({ type: 'model', ...model }, 'client');
    return { ok: true, model };
  },
});
