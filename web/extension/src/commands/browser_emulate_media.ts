/**
 * Command `browser_emulate_media`: dark or light, less motion, screen or print, as style sheets
 * see it. What is not given stays as it is.
 */

import { invalid } from '../command';
import { emulate } from '../driver/emulation/emulation';
import { defineCommand } from './define-command';

export default defineCommand('browser_emulate_media', async (page, given) => {
  const change = Object.entries(given).filter(([, value]) => value !== undefined);
  if (change.length === 0) {
    throw invalid('give at least one of colorScheme, reducedMotion and media');
  }
  return { emulated: await emulate(page, Object.fromEntries(change)) };
});
