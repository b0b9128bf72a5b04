/**
 * Command `browser_upload_part`: brings a part of a file, before the call of `browser_upload_file`
 * that puts it into an input.
 *
 * It touches nothing in the page. It is judged as an act all the same: whoever may only look, or
 * may not use the page, has nothing to upload there.
 */

import { defineCommand, integer, string } from '../command';
import { forgetUpload, keepPart, UPLOAD_MOST_FILES } from '../driver/input/uploads';

export default defineCommand({
  name: 'browser_upload_part',
  effect: 'act',
  args: {
    uploadId: string(),
    file: integer({ least: 0, most: UPLOAD_MOST_FILES - 1 }),
    offset: integer({ least: 0 }),
    data: string(),
  },

  async run({ client, tabId, limits }, part) {
    // Whoever withdraws a part does not want the rest either.
    if (limits.signal.aborted) forgetUpload(part.uploadId);
    limits.signal.throwIfAborted();
    return { received: keepPart({ clientId: client.id, tabId }, part) };
  },
});
