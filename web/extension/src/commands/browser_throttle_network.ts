/**
 * Command `browser_throttle_network`: makes a tab's network as slow as a known one, or as numbers
 * say.
 */

import { invalid } from '../command';
import { emulate } from '../driver/emulation/emulation';
import type { EmulationChange, Throttle } from '../driver/emulation/emulation-state';
import { defineCommand } from './define-command';

/** Bytes per second, down and up, and milliseconds. */
const PRESETS: Readonly<Record<string, readonly [number, number, number]>> = {
  'slow-3g': [50_000, 50_000, 2_000],
  'fast-3g': [180_000, 84_000, 560],
  '4g': [1_000_000, 170_000, 165],
  wifi: [3_750_000, 1_875_000, 2],
};

export default defineCommand('browser_throttle_network', async (page, { preset, ...numbers }) => {
  const given = Object.entries(numbers).filter(([, value]) => value !== undefined);
  if ((preset === undefined) === (given.length === 0)) {
    throw invalid(
      'give preset, or some of downloadThroughput, uploadThroughput (bytes per second) and ' +
        'latency (milliseconds), not both',
    );
  }
  const change: EmulationChange =
    preset === undefined
      ? { throttle: { latency: 0, ...Object.fromEntries(given) } }
      : presetChange(preset);
  return { emulated: await emulate(page, change) };
});

function presetChange(preset: string): EmulationChange {
  if (preset === 'offline') return { offline: true };
  const numbers = PRESETS[preset];
  // `none` is the network as it is.
  if (numbers === undefined) return { throttle: undefined, offline: undefined };
  const [downloadThroughput, uploadThroughput, latency] = numbers;
  const throttle: Throttle = { preset, downloadThroughput, uploadThroughput, latency };
  return { throttle, offline: undefined };
}
