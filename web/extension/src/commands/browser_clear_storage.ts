/**
 * Command `browser_clear_storage`: removes what the page's origin keeps.
 */

import { emptyStorage, inStorage, type StorageType } from '../driver/storage/web-storage';
import { defineCommand } from './define-command';

const BOTH: StorageType[] = ['localStorage', 'sessionStorage'];

export default defineCommand('browser_clear_storage', async (page, { storageType }) => {
  const types: StorageType[] = storageType === 'all' ? BOTH : [storageType];
  const cleared = await inStorage(page, emptyStorage, [types]);
  return { storageType, cleared };
});
