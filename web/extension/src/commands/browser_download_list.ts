/**
 * Command `browser_download_list`: what driven tabs have downloaded, newest first.
 */

import { defineBrowserCommand, oneOf, optional } from '../command';
import { listDownloads } from '../driver/network/downloads';

const MOST = 50;

export default defineBrowserCommand({
  name: 'browser_download_list',
  effect: 'read',
  args: { state: optional(oneOf('in_progress', 'complete', 'interrupted', 'all'), 'all') },

  async run(caller, { state }) {
    const all = await listDownloads(caller);
    const fitting = state === 'all' ? all : all.filter((view) => view.state === state);
    const older = Math.max(0, fitting.length - MOST);
    return { downloads: fitting.slice(0, MOST), ...(older === 0 ? {} : { older }) };
  },
});
