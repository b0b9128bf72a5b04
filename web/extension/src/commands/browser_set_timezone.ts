/**
 * Command `browser_set_timezone`: lets a page live in another time zone.
 */

import { defineCommand, invalid, string } from '../command';
import { emulate } from '../driver/emulation/emulation';

export default defineCommand({
  name: 'browser_set_timezone',
  effect: 'act',
  args: { timezoneId: string() },

  async run(page, { timezoneId }) {
    // An empty one would end it, which is what a reset is for.
    if (timezoneId.trim() === '') {
      throw invalid('timezoneId must not be empty; give an IANA name like Europe/Berlin');
    }
    return { emulated: await emulate(page, { timezoneId }) };
  },
});
