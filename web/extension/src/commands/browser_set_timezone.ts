/**
 * Command `browser_set_timezone`: lets a page live in another time zone.
 */

import { invalid } from '../command';
import { emulate } from '../driver/emulation/emulation';
import { defineCommand } from './define-command';

export default defineCommand('browser_set_timezone', async (page, { timezoneId }) => {
  // An empty one would end it, which is what a reset is for.
  if (timezoneId.trim() === '') {
    throw invalid('timezoneId must not be empty; give an IANA name like Europe/Berlin');
  }
  return { emulated: await emulate(page, { timezoneId }) };
});
