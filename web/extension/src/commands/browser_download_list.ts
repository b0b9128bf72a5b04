/**
 * Command `browser_download_list`: what driven tabs have downloaded, newest first.
 */

import { listDownloads } from '../driver/network/downloads';
import { defineCommand } from './define-command';

const MOST = 50;

export default defineCommand('browser_download_list', async (caller, { state }) => {
  const all = await listDownloads(caller);
  const fitting = state === 'all' ? all : all.filter((view) => view.state === state);
  const older = Math.max(0, fitting.length - MOST);
  return { downloads: fitting.slice(0, MOST), ...(older === 0 ? {} : { older }) };
});
