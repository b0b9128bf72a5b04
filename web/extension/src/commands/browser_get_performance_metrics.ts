/**
 * Command `browser_get_performance_metrics`: how fast the page came, and what it costs.
 */

import { readMetrics, readTimings } from '../driver/reading/timings';
import { defineCommand } from './define-command';

export default defineCommand('browser_get_performance_metrics', async (page) => {
  const { timing, resources } = await readTimings(page);
  return { metrics: await readMetrics(page), timing, resources };
});
