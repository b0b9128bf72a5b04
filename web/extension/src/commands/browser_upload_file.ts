/**
 * Command `browser_upload_file`: puts files into a file input.
 *
 * Their bytes have come before, with `browser_upload_part`; here are their names and types. Paths
 * are not taken: which files of a machine may be uploaded is the hub's to judge, and it reads them.
 */

import { isRecord } from '../check';
import { type Argument, defineCommand, invalid, listOf, optional, string } from '../command';
import type { FileFacts } from '../content/api';
import { putFiles, takeUpload, UPLOAD_MOST_FILES } from '../driver/input/uploads';
import { checkTarget, TARGET } from '../driver/page/elements';

const WANTS =
  'a list of {name, mimeType, size}, whose bytes have come in parts; paths are not taken';

export default defineCommand({
  name: 'browser_upload_file',
  effect: 'act',
  args: { ...TARGET, uploadId: optional(string()), files: listOf(facts(), WANTS) },

  async run(page, { ref, selector, uploadId, files }) {
    // First of all: whatever comes of this call, the bytes are not kept any longer.
    const { client, tabId } = page;
    const uploaded = takeUpload({ clientId: client.id, tabId }, uploadId, files);
    const target = { ref, selector };
    checkTarget(target);
    if (files.length > UPLOAD_MOST_FILES) throw invalid(`at most ${UPLOAD_MOST_FILES} files`);
    return page.act(() => putFiles(page, target, uploaded));
  },
});

function facts(): Argument<FileFacts> {
  return {
    wants: '{name, mimeType, size}',
    isOptional: false,
    read(value) {
      if (!isRecord(value)) return undefined;
      const { name, mimeType, size } = value;
      if (typeof name !== 'string' || typeof mimeType !== 'string') return undefined;
      if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) return undefined;
      return { value: { name, mimeType, size } };
    },
  };
}
