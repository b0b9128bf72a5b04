/**
 * Command `browser_set_viewport`: lets a page see a window of another size.
 */

import { boolean, defineCommand, integer, number, optional } from '../command';
import { emulate } from '../driver/emulation/emulation';

const MOST_PIXELS = 10_000;
const MOST_DOTS = 10;

export default defineCommand({
  name: 'browser_set_viewport',
  effect: 'act',
  args: {
    width: integer({ least: 1, most: MOST_PIXELS }),
    height: integer({ least: 1, most: MOST_PIXELS }),
    deviceScaleFactor: optional(number({ least: 0.1, most: MOST_DOTS })),
    mobile: optional(boolean(), false),
  },

  async run(page, { width, height, deviceScaleFactor, mobile }) {
    const dots = deviceScaleFactor === undefined ? {} : { deviceScaleFactor };
    const viewport = { width, height, mobile, ...dots };
    // With another screen it is not that device any more, though it still calls itself so.
    return { emulated: await emulate(page, { viewport, device: undefined }) };
  },
});
