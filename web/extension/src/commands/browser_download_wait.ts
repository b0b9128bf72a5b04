/**
 * Command `browser_download_wait`: waits until a download is complete, and tells where it is.
 */

import { downloadId, waitForDownload } from '../driver/network/downloads';
import { defineCommand } from './define-command';

export default defineCommand('browser_download_wait', (caller, { id, timeoutMs }) =>
  waitForDownload(caller, id === undefined ? undefined : downloadId(id), timeoutMs),
);
