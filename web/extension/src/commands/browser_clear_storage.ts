/**
 * Command `browser_clear_storage`: removes what the page's origin keeps.
 */

import { defineCommand, oneOf, optional } from '../command';
import { emptyStorage, inStorage, type StorageType } from '../driver/storage/web-storage';

const BOTH: StorageType[] = ['localStorage', 'sessionStorage'];

export default defineCommand({
  name: 'browser_clear_storage',
  effect: 'act',
  args: {
    storageType: optional(oneOf('localStorage', 'sessionStorage', 'all'), 'localStorage'),
  },

  async run(page, { storageType }) {
    const types: StorageType[] = storageType === 'all' ? BOTH : [storageType];
    const cleared = await inStorage(page, emptyStorage, [types]);
    return { storageType, cleared };
  },
});
