/**
 * Command `browser_set_local_storage`: sets one key of the page's origin.
 */

import { inStorage, writeStorage } from '../driver/storage/web-storage';
import { defineCommand } from './define-command';

export default defineCommand(
  'browser_set_local_storage',
  async (page, { key, value, storageType }) => {
    const keys = await inStorage(page, writeStorage, [storageType, key, value]);
    return { storageType, key, keys };
  },
);
