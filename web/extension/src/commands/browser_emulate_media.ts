/**
 * Command `browser_emulate_media`: dark or light, less motion, screen or print, as style sheets
 * see it. What is not given stays as it is.
 */

import { boolean, defineCommand, invalid, oneOf, optional } from '../command';
import { emulate } from '../driver/emulation/emulation';

export default defineCommand({
  name: 'browser_emulate_media',
  effect: 'act',
  args: {
    colorScheme: optional(oneOf('light', 'dark')),
    reducedMotion: optional(boolean()),
    media: optional(oneOf('screen', 'print')),
  },

  async run(page, given) {
    const change = Object.entries(given).filter(([, value]) => value !== undefined);
    if (change.length === 0) {
      throw invalid('give at least one of colorScheme, reducedMotion and media');
    }
    return { emulated: await emulate(page, Object.fromEntries(change)) };
  },
});
