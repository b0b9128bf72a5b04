/**
 * Command `browser_set_offline`: cuts a tab off from the network, or connects it again.
 */

import { boolean, defineCommand } from '../command';
import { emulate } from '../driver/emulation/emulation';

export default defineCommand({
  name: 'browser_set_offline',
  effect: 'act',
  args: { offline: boolean() },

  async run(page, { offline }) {
    return { emulated: await emulate(page, { offline: offline ? true : undefined }) };
  },
});
