/**
 * How a page did: what Chrome counts of it, and what the page's own clock says.
 *
 * Chrome counts a page's work only from when it is first asked, so the first answer for a tab has
 * none, and the next ones say for how long it was counted. Sizes are those of the page's process.
 * What was not measured is left out: a page that was never drawn has no first paint.
 */

import { TOP } from '../page/content-calls';
import type { Page } from '../page/page';
import { TabPart } from '../tab/tab-state';

interface Metric {
  readonly name: string;
  /** Seconds are told as milliseconds. */
  readonly isTime?: true;
  /** Whether it is counted from the first asking on. */
  readonly isWork?: true;
}

const METRICS: Readonly<Record<string, Metric>> = {
  Documents: { name: 'documents' },
  Frames: { name: 'frames' },
  JSEventListeners: { name: 'eventListeners' },
  Nodes: { name: 'nodes' },
  LayoutCount: { name: 'layouts', isWork: true },
  RecalcStyleCount: { name: 'styleRecalculations', isWork: true },
  LayoutDuration: { name: 'layoutMs', isTime: true, isWork: true },
  RecalcStyleDuration: { name: 'styleMs', isTime: true, isWork: true },
  ScriptDuration: { name: 'scriptMs', isTime: true, isWork: true },
  TaskDuration: { name: 'taskMs', isTime: true, isWork: true },
  JSHeapUsedSize: { name: 'heapUsedBytes' },
  JSHeapTotalSize: { name: 'heapTotalBytes' },
};

/** Since when Chrome counts a tab's work, on Chrome's own clock in seconds. */
const countedSince = new TabPart<number>(['attachment']);

/** Returns what Chrome counts of a page. */
export async function readMetrics(page: Page): Promise<Record<string, number>> {
  const before = countedSince.get(page.tabId);
  if (before === undefined) await page.send('Performance.enable');
  const { metrics } = await page.send('Performance.getMetrics');
  const values = new Map(metrics.map(({ name, value }) => [name, value]));
  const now = values.get('Timestamp') ?? 0;
  if (before === undefined) countedSince.set(page.tabId, now);
  const told: Record<string, number> = {};
  for (const [name, metric] of Object.entries(METRICS)) {
    const value = values.get(name);
    if (value === undefined || (metric.isWork && before === undefined)) continue;
    told[metric.name] = metric.isTime ? tenths(value * 1000) : value;
  }
  // A new document is counted from its own start.
  const since = Math.max(before ?? now, values.get('NavigationStart') ?? 0);
  return before === undefined ? told : { ...told, countedMs: tenths((now - since) * 1000) };
}

export interface Timings {
  readonly timing: Readonly<Record<string, number>>;
  /** `bytes` are those that came over the network, as far as their sites let it be known. */
  readonly resources: { readonly count: number; readonly bytes: number };
}

/** Returns what the page's clock says. */
export async function readTimings(page: Page): Promise<Timings> {
  const [answer] = await page.run(TOP, measureInPage, []);
  return answer?.value ?? { timing: {}, resources: { count: 0, bytes: 0 } };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

// Serialised into the page: may not close over this module.
function measureInPage() {
  const timing: Record<string, number> = {};
  const note = (name: string, value: number | undefined, digits = 1) => {
    if (value === undefined || !Number.isFinite(value)) return;
    timing[name] = Math.round(value * 10 ** digits) / 10 ** digits;
  };
  // What an observer is owed from before, it has at once.
  const buffered = (type: string): PerformanceEntry[] => {
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type, buffered: true });
    const entries = observer.takeRecords();
    observer.disconnect();
    return entries;
  };
  const number = (entry: PerformanceEntry, name: string) => Number(Reflect.get(entry, name));
  const [document] = performance.getEntriesByType('navigation');
  if (document !== undefined) {
    note('ttfbMs', number(document, 'responseStart'));
    const ready = number(document, 'domContentLoadedEventEnd');
    const loaded = number(document, 'loadEventEnd');
    // Nothing has happened at zero.
    if (ready > 0) note('domContentLoadedMs', ready);
    if (loaded > 0) note('loadMs', loaded);
  }
  for (const { name, startTime } of performance.getEntriesByType('paint')) {
    note(name === 'first-paint' ? 'firstPaintMs' : 'firstContentfulPaintMs', startTime);
  }
  note('largestContentfulPaintMs', buffered('largest-contentful-paint').at(-1)?.startTime);
  // The worst burst: shifts less than a second apart, at most five seconds long.
  let [worst, burst, began, last] = [0, 0, -Infinity, -Infinity];
  for (const shift of buffered('layout-shift')) {
    if (Reflect.get(shift, 'hadRecentInput') === true) continue;
    const at = shift.startTime;
    const isSame = at - last < 1_000 && at - began < 5_000;
    if (!isSame) began = at;
    burst = number(shift, 'value') + (isSame ? burst : 0);
    worst = Math.max(worst, burst);
    last = at;
  }
  note('cumulativeLayoutShift', worst, 4);
  const loaded = performance.getEntriesByType('resource');
  const bytes = loaded.reduce((sum, entry) => sum + number(entry, 'transferSize'), 0);
  return { timing, resources: { count: loaded.length, bytes } };
}
