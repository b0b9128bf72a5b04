/** Tool `list_models`: names the built-in models and the one that is shown. */

import { BUILTIN_NAMES } from '../models/names';
import { defineTool } from './tool';

export const listModels = defineTool({
  name: 'list_models',
  description: 'Built-in models and the one shown',
  args: {},
  readOnly: true,

  run(room) {
    const { name, source } = room.store.state.model;
    return {
      builtin: BUILTIN_NAMES.map((builtin) => ({
        name: builtin,
        description: room.describeBuiltin(builtin),
      })),
      shown: { name, source },
    };
  },
});
