/**
 * Command `browser_get_local_storage`: what the page's origin keeps, whole or by key.
 */

import { defineCommand, oneOf, optional, string } from '../command';
import { inStorage, readStorage } from '../driver/storage/web-storage';

/** Characters that one answer has. */
const MOST = 100 * 1024;

export default defineCommand({
  name: 'browser_get_local_storage',
  effect: 'read',
  args: {
    key: optional(string()),
    storageType: optional(oneOf('localStorage', 'sessionStorage'), 'localStorage'),
  },

  async run(page, { key, storageType }) {
    const found = await inStorage(page, readStorage, [storageType, key ?? null, MOST]);
    const { storage, keys, leftOutKeys, leftOutCharacters } = found;
    return {
      storageType,
      keys,
      storage,
      ...(leftOutKeys > 0 ? { leftOutKeys } : {}),
      ...(leftOutCharacters > 0 ? { leftOutCharacters } : {}),
    };
  },
});
