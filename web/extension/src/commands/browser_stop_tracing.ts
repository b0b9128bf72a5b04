/**
 * Command `browser_stop_tracing`: ends the trace and returns it, as Chrome's tools read it.
 */

import { encodeText, type File } from '../driver/common/bytes';
import { stopTrace } from '../driver/reading/tracing';
import { defineCommand } from './define-command';

export default defineCommand('browser_stop_tracing', async (page) => {
  const { json, ...about } = await stopTrace(page);
  const file: File = {
    mimeType: 'application/json',
    data: encodeText(json),
    name: 'trace.json',
  };
  return { file, ...about };
});
