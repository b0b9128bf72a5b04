/**
 * Command `browser_emulate_device`: lets a tab pass for a phone or tablet.
 */

import { findDevice } from '../driver/emulation/devices';
import { emulate } from '../driver/emulation/emulation';
import { defineCommand } from './define-command';

export default defineCommand('browser_emulate_device', async (page, { device }) => {
  const { name, width, height, deviceScaleFactor, userAgent, platform } = findDevice(device);
  const viewport = { width, height, deviceScaleFactor, mobile: true };
  const emulated = await emulate(page, { device: name, viewport, userAgent, platform });
  return { emulated };
});
