/**
 * Downloads of driven tabs, as clients see them.
 *
 * Which those are, the background knows; how they go, Chrome. What another client's tab has begun,
 * or what comes from a site that the user keeps from clients, is not told. An extension cannot read files: their content is the hub's
 * matter, by the path that is told here.
 */

import { CommandError, invalid } from '../../command';
import type { DownloadReport } from '../../generated/command-results';
import { quoted } from '../../quoted';
import { type BegunDownload, mayUse } from '../common/services';
import { answerable, deferred, within } from '../common/time-limits';
import type { Caller } from '../page/page';

const LONGEST_URL = 2_000;
// One that was over before anybody could wait for it is still the one that was meant.
const RECENT_MS = 30_000;

/** Those that a wait has told: a wait without an id does not tell them again. */
const waitedFor = new Set<number>();

/** Reads the number of a download. */
export function downloadId(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid(`id must be the number of a download, from the list of downloads, not ${text}`);
}

/** Returns the downloads that may be told, newest first. */
export async function listDownloads(caller: Caller): Promise<readonly DownloadReport[]> {
  const own = caller.services.downloads
    .begun()
    .filter(({ clients }) => clients.includes(caller.client.id));
  const begun = own.reverse();
  const found = await Promise.all(begun.map((download) => look(caller, download)));
  return found.filter((view) => view !== undefined);
}

/** Waits until a download is complete; without an id, the one under way or the next. */
export async function waitForDownload(
  caller: Caller,
  id: number | undefined,
  timeoutMs: number,
): Promise<DownloadReport> {
  const { services, limits } = caller;
  const since = Date.now();
  const until = performance.now() + answerable(limits, timeoutMs);
  for (;;) {
    // Listening begins before looking, so that nothing falls between.
    const { promise: news, resolve } = deferred<void>();
    const stop = services.downloads.listen(resolve);
    try {
      const meant = await choose(caller, id, since);
      if (meant !== undefined && meant.state !== 'in_progress') waitedFor.add(meant.id);
      if (meant?.state === 'complete') return meant;
      if (meant?.state === 'interrupted') throw failed(meant);
      const leftMs = until - performance.now();
      await within(news, limits, leftMs, () => late(meant, id, timeoutMs));
      if (meant !== undefined) id = meant.id;
    } finally {
      stop();
    }
  }
}

async function choose(
  caller: Caller,
  id: number | undefined,
  since: number,
): Promise<DownloadReport | undefined> {
  const all = await listDownloads(caller);
  if (id !== undefined) {
    const wanted = all.find((view) => view.id === id);
    if (wanted === undefined) throw notFound(id);
    return wanted;
  }
  const running = all.find(({ state }) => state === 'in_progress');
  if (running !== undefined) return running;
  const recent = new Set(
    caller.services.downloads
      .begun()
      .filter(({ at }) => at > since - RECENT_MS)
      .map((begun) => begun.id),
  );
  return all.find((view) => recent.has(view.id) && !waitedFor.has(view.id));
}

async function look(caller: Caller, { id }: BegunDownload): Promise<DownloadReport | undefined> {
  const [item] = await chrome.downloads.search({ id });
  if (item === undefined) return undefined;
  const addresses = [item.url, item.finalUrl, item.referrer].filter((url) => url);
  if (!(await mayUse(caller.services, ...addresses))) return undefined;
  const { filename: path, mime: mimeType, error, bytesReceived: bytes, totalBytes, state } = item;
  return {
    id,
    filename: path.split(/[\\/]/).pop() ?? path,
    path,
    url: (item.finalUrl || item.url).slice(0, LONGEST_URL),
    state: stateOf(state),
    bytes,
    ...(totalBytes >= 0 ? { totalBytes } : {}),
    ...(mimeType ? { mimeType } : {}),
    ...(error === undefined ? {} : { error }),
  };
}

function stateOf(state: string): DownloadReport['state'] {
  return state === 'complete' || state === 'interrupted' ? state : 'in_progress';
}

function failed({ id, filename, error }: DownloadReport): CommandError {
  return new CommandError(
    'DOWNLOAD_FAILED',
    `download ${id} (${quoted(filename)}) was interrupted: ${error ?? 'no reason given'}; ` +
      'begin it again in the page',
  );
}

function notFound(id: number): CommandError {
  return new CommandError(
    'DOWNLOAD_NOT_FOUND',
    `no driven tab has begun a download ${id}; list them with browser_network, action downloads`,
  );
}

function late(meant: DownloadReport | undefined, id: number | undefined, timeoutMs: number) {
  const what =
    meant === undefined
      ? 'no download began'
      : `download ${id ?? meant.id} (${quoted(meant.filename)}) is not complete, it has ${meant.bytes} bytes`;
  return new CommandError(
    'TIMEOUT',
    `${what} within ${timeoutMs} ms; allow more time with timeoutMs, or look at the list`,
  );
}
