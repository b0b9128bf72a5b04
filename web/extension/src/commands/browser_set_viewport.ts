/**
 * Command `browser_set_viewport`: lets a page see a window of another size.
 */

import { emulate } from '../driver/emulation/emulation';
import { defineCommand } from './define-command';

export default defineCommand(
  'browser_set_viewport',
  async (page, { width, height, deviceScaleFactor, mobile }) => {
    const dots = deviceScaleFactor === undefined ? {} : { deviceScaleFactor };
    const viewport = { width, height, mobile, ...dots };
    // With another screen it is not that device any more, though it still calls itself so.
    return { emulated: await emulate(page, { viewport, device: undefined }) };
  },
);
