/**
 * Command `browser_emulate_device`: lets a tab pass for a phone or tablet.
 */

import { defineCommand, string } from '../command';
import { findDevice } from '../driver/emulation/devices';
import { emulate } from '../driver/emulation/emulation';

export default defineCommand({
  name: 'browser_emulate_device',
  effect: 'act',
  args: { device: string() },

  async run(page, { device }) {
    const { name, width, height, deviceScaleFactor, userAgent, platform } = findDevice(device);
    const viewport = { width, height, deviceScaleFactor, mobile: true };
    const emulated = await emulate(page, { device: name, viewport, userAgent, platform });
    return { emulated };
  },
});
