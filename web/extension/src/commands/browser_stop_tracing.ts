/**
 * Command `browser_stop_tracing`: ends the trace and returns it, as Chrome's tools read it.
 */

import { defineCommand } from '../command';
import { encodeText, type File } from '../driver/common/bytes';
import { stopTrace } from '../driver/reading/tracing';

export default defineCommand({
  name: 'browser_stop_tracing',
  effect: 'act',
  args: {},

  async run(page) {
    const { json, ...about } = await stopTrace(page);
    const file: File = {
      mimeType: 'application/json',
      data: encodeText(json),
      name: 'trace.json',
    };
    return { file, ...about };
  },
});
