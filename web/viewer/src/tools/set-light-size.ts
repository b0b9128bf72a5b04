/** Tool `set_light_size`: width and height of an area light, which hello3d can only read. */

import { choice, number } from '../arguments';
import { LIMITS } from '../state';
import { defineTool } from './tool';

export const setLightSize = defineTool({
  name: 'set_light_size',
  description: 'Set width and height of the key or fill light',
  args: {
    light: choice(['key', 'fill']),
    width: number(LIMITS.lightSize),
    height: number(LIMITS.lightSize),
  },

  run({ store }, { light, width, height }) {
    store.change({ type: 'light', light, set: { size: { width, height } } }, 'client');
    return { ok: true };
  },
});
