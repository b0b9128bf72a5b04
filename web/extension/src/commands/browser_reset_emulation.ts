/**
 * Command `browser_reset_emulation`: ends everything that a tab was made to see.
 */

import { emulate } from '../driver/emulation/emulation';
import { defineCommand } from './define-command';

export default defineCommand('browser_reset_emulation', async (page) => {
  const nothing = {
    device: undefined,
    viewport: undefined,
    userAgent: undefined,
    platform: undefined,
    geolocation: undefined,
    timezoneId: undefined,
    locale: undefined,
    colorScheme: undefined,
    reducedMotion: undefined,
    media: undefined,
    offline: undefined,
    throttle: undefined,
  };
  return { emulated: await emulate(page, nothing) };
});
