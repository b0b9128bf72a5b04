/**
 * Command `browser_set_geolocation`: lets a page believe to be somewhere, without asking the user.
 */

import { emulate } from '../driver/emulation/emulation';
import { defineCommand } from './define-command';

export default defineCommand('browser_set_geolocation', async (page, geolocation) => {
  return { emulated: await emulate(page, { geolocation }) };
});
