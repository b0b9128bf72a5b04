/**
 * Tool `viewer_screenshot`: the picture as a PNG, in the size of the page or one of one's own.
 *
 * Drawn for the purpose: without buttons and toasts, with the state as it is and not on its way
 * there, and also while the page is in the background.
 */

import { integer, optional } from '../arguments';
import { defineTool } from './tool';

const PIXELS = { min: 64, max: 2048 };

export const viewerScreenshot = defineTool({
  name: 'viewer_screenshot',
  description: 'Picture of the scene as PNG',
  args: { width: optional(integer(PIXELS)), height: optional(integer(PIXELS)) },
  readOnly: true,

  run(room, { width, height }) {
    const size = {
      ...(width === undefined ? {} : { width }),
      ...(height === undefined ? {} : { height }),
    };
    return { image: { mimeType: 'image/png', data: room.picture(size) } };
  },
});
