/**
 * Command `browser_keyboard_press`: one key, with what is held down, where the focus is.
 */

import { defineCommand, string } from '../command';
import { heldModifiers, MODIFIER_ARGS } from '../driver/gestures';
import { pressKey } from '../driver/input';
import { parseStroke } from '../driver/keys';

export default defineCommand({
  name: 'browser_keyboard_press',
  effect: 'act',
  args: { key: string(), ...MODIFIER_ARGS },

  async run(page, args) {
    const stroke = parseStroke(args.key, heldModifiers(args));
    return page.act(async (session) => {
      const armed = await page.armTop();
      return { acted: pressKey(session, stroke), armed };
    });
  },
});
