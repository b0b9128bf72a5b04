/**
 * Command `browser_set_offline`: cuts a tab off from the network, or connects it again.
 */

import { emulate } from '../driver/emulation/emulation';
import { defineCommand } from './define-command';

export default defineCommand('browser_set_offline', async (page, { offline }) => {
  return { emulated: await emulate(page, { offline: offline ? true : undefined }) };
});
