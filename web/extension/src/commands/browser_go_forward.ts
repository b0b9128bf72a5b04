/**
 * Command `browser_go_forward`: goes one page forward in the tab's history.
 */

import { step } from '../driver/navigation/history';
import { travel } from '../driver/navigation/journeys';
import { defineCommand } from './define-command';

export default defineCommand('browser_go_forward', (page) =>
  travel(page, { waitUntil: 'load', fromHistory: true, start: () => step(page, 1) }),
);
