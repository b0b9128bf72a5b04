/**
 * Command `browser_upload_part`: brings a part of a file, before the call of `browser_upload_file`
 * that puts it into an input.
 *
 * It touches nothing in the page. It is judged as an act all the same: whoever may only look, or
 * may not use the page, has nothing to upload there.
 */

import { forgetUpload, keepPart } from '../driver/input/uploads';
import { defineCommand } from './define-command';

export default defineCommand('browser_upload_part', async ({ client, tabId, limits }, part) => {
  // Whoever withdraws a part does not want the rest either.
  if (limits.signal.aborted) forgetUpload(part.uploadId);
  limits.signal.throwIfAborted();
  return { received: keepPart({ clientId: client.id, tabId }, part) };
});
