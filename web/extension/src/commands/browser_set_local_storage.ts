/**
 * Command `browser_set_local_storage`: sets one key of the page's origin.
 */

import { defineCommand, oneOf, optional, string } from '../command';
import { inStorage, writeStorage } from '../driver/storage/web-storage';

export default defineCommand({
  name: 'browser_set_local_storage',
  effect: 'act',
  args: {
    key: string(),
    value: string(),
    storageType: optional(oneOf('localStorage', 'sessionStorage'), 'localStorage'),
  },

  async run(page, { key, value, storageType }) {
    const keys = await inStorage(page, writeStorage, [storageType, key, value]);
    return { storageType, key, keys };
  },
});
