/**
 * Command `browser_get_local_storage`: what the page's origin keeps, whole or by key.
 */

import { inStorage, readStorage } from '../driver/storage/web-storage';
import { defineCommand } from './define-command';

/** Characters that one answer has. */
const MOST = 100 * 1024;

export default defineCommand('browser_get_local_storage', async (page, { key, storageType }) => {
  const found = await inStorage(page, readStorage, [storageType, key ?? null, MOST]);
  const { storage, keys, leftOutKeys, leftOutCharacters } = found;
  return {
    storageType,
    keys,
    storage,
    ...(leftOutKeys > 0 ? { leftOutKeys } : {}),
    ...(leftOutCharacters > 0 ? { leftOutCharacters } : {}),
  };
});
