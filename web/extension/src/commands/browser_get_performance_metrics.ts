/**
 * Command `browser_get_performance_metrics`: how fast the page came, and what it costs.
 */

import { defineCommand } from '../command';
import { readMetrics, readTimings } from '../driver/reading/timings';

export default defineCommand({
  name: 'browser_get_performance_metrics',
  effect: 'read',
  args: {},

  async run(page) {
    const { timing, resources } = await readTimings(page);
    return { metrics: await readMetrics(page), timing, resources };
  },
});
