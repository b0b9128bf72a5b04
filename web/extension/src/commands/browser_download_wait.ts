/**
 * Command `browser_download_wait`: waits until a download is complete, and tells where it is.
 */

import { defineBrowserCommand, integer, optional } from '../command';
import { downloadId, waitForDownload } from '../driver/network/downloads';

const PATIENCE_MS = 60_000;

export default defineBrowserCommand({
  name: 'browser_download_wait',
  effect: 'read',
  args: { id: optional(downloadId()), timeoutMs: optional(integer({ least: 1 }), PATIENCE_MS) },

  run: (caller, { id, timeoutMs }) => waitForDownload(caller, id, timeoutMs),
});
