/**
 * Command `browser_start_tracing`: begins to note what the page does and how long it takes.
 */

import { invalid } from '../command';
import { startTrace } from '../driver/reading/tracing';
import { defineCommand } from './define-command';

const MOST_CATEGORIES = 50;

export default defineCommand('browser_start_tracing', async (page, { categories }) => {
  const isName = (name: string) => /^[\w.,*-]{1,100}$/.test(name);
  if (categories.length > MOST_CATEGORIES || !categories.every(isName)) {
    throw invalid(
      `categories must be at most ${MOST_CATEGORIES} names of Chrome, like devtools.timeline ` +
        'or disabled-by-default-v8.cpu_profiler; leave it out for the usual ones',
    );
  }
  await startTrace(page, categories);
  return { tracing: true };
});
