/**
 * Command `browser_reset_emulation`: ends everything that a tab was made to see.
 */

import { defineCommand } from '../command';
import { emulate } from '../driver/emulation/emulation';

export default defineCommand({
  name: 'browser_reset_emulation',
  effect: 'act',
  args: {},

  async run(page) {
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
  },
});
