/**
 * Command `browser_set_geolocation`: lets a page believe to be somewhere, without asking the user.
 */

import { defineCommand, number, optional } from '../command';
import { emulate } from '../driver/emulation/emulation';

const USUAL_METRES = 10;

export default defineCommand({
  name: 'browser_set_geolocation',
  effect: 'act',
  args: {
    latitude: number({ least: -90, most: 90 }),
    longitude: number({ least: -180, most: 180 }),
    accuracy: optional(number({ least: 0, most: 1_000_000 }), USUAL_METRES),
  },

  async run(page, geolocation) {
    return { emulated: await emulate(page, { geolocation }) };
  },
});
