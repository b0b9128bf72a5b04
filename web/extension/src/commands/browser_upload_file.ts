/**
 * Command `browser_upload_file`: puts files into a file input.
 *
 * A path is read by the browser on its own machine; `{name, mimeType, data}` brings the bytes
 * along (base64), which also works when the hub is elsewhere.
 */

import { type Argument, defineCommand, invalid, isRecord, listOf } from '../command';
import type { FileContent } from '../content/api';
import { checkTarget, onElement, reportElement, TARGET } from '../driver/elements';
import { setFilePaths } from '../driver/uploads';

type Upload = string | FileContent;

export default defineCommand({
  name: 'browser_upload_file',
  effect: 'act',
  args: {
    ...TARGET,
    files: listOf(upload(), 'a list of paths or of {name, mimeType, data (base64)}'),
  },

  async run(page, { ref, selector, files }) {
    const target = { ref, selector };
    checkTarget(target);
    const paths = files.filter((file) => typeof file === 'string');
    const contents = files.filter((file) => typeof file !== 'string');
    if (paths.length > 0 && contents.length > 0) throw invalid('give paths or contents, not both');
    return page.act(async (session) => {
      if (paths.length > 0) return setFilePaths(page, session, target, paths);
      const found = await onElement(page, target, (locator) => ({
        method: 'setFiles',
        args: [locator, contents],
        arm: 'before',
      }));
      return { armed: found.where, element: reportElement(found, found.value) };
    });
  },
});

function upload(): Argument<Upload> {
  return {
    wants: 'a path or {name, mimeType, data}',
    isOptional: false,
    read(value) {
      if (typeof value === 'string') return { value };
      if (!isRecord(value)) return undefined;
      const { name, mimeType = 'application/octet-stream', data } = value;
      if (typeof name !== 'string' || typeof mimeType !== 'string') return undefined;
      return typeof data === 'string' ? { value: { name, mimeType, data } } : undefined;
    },
  };
}
