/**
 * Command `browser_upload_file`: puts files into a file input.
 *
 * Their bytes have come before, with `browser_upload_part`; here are their names and types. Paths
 * are not taken: which files of a machine may be uploaded is the hub's to judge, and it reads them.
 */

import { putFiles, takeUpload } from '../driver/input/uploads';
import { checkTarget } from '../driver/page/elements';
import { defineCommand } from './define-command';

export default defineCommand(
  'browser_upload_file',
  async (page, { ref, selector, uploadId, files }) => {
    // First of all: whatever comes of this call, the bytes are not kept any longer.
    const { client, tabId } = page;
    const uploaded = takeUpload({ clientId: client.id, tabId }, uploadId, files);
    const target = { ref, selector };
    checkTarget(target);
    return page.act(() => putFiles(page, target, uploaded));
  },
);
