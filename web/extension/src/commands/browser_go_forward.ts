/**
 * Command `browser_go_forward`: goes one page forward in the tab's history.
 */

import { defineCommand } from '../command';
import { step } from '../driver/navigation/history';
import { travel } from '../driver/navigation/journeys';

export default defineCommand({
  name: 'browser_go_forward',
  effect: 'act',
  on: 'tab',
  args: {},

  run: (page) => travel(page, { waitUntil: 'load', fromHistory: true, start: () => step(page, 1) }),
});
