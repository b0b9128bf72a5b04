/**
 * Devices that a tab can pass for, by name: screen, user agent, platform, touch.
 *
 * Sizes are those of the whole screen, in CSS pixels.
 */

import { invalid } from '../../command';
import type { Protocol } from '../common/protocol';

export interface Device {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly deviceScaleFactor: number;
  readonly userAgent: string;
  readonly platform: string;
  /** Its client hints; Safari sends none. */
  readonly hints?: Protocol.Emulation.UserAgentMetadata;
}

// A device with Chrome has the version that this browser has: pages ask for both.
const CHROME = /Chrome\/(\d+)/.exec(globalThis.navigator?.userAgent ?? '')?.[1] ?? '130';

const DEVICES: readonly Device[] = [
  apple('iPhone 14', 390, 844, 3),
  apple('iPhone 14 Pro Max', 430, 932, 3),
  apple('iPhone SE', 375, 667, 2),
  android('Pixel 7', 412, 915, 2.625, 'Pixel 7'),
  android('Pixel 7 Pro', 412, 892, 3.5, 'Pixel 7 Pro'),
  android('Samsung Galaxy S23', 360, 780, 3, 'SM-S911B'),
  apple('iPad Pro', 1024, 1366, 2),
  apple('iPad Mini', 768, 1024, 2),
];

/** Finds a device, whatever the case and the spaces; throws `INVALID_ARGUMENT`. */
export function findDevice(name: string): Device {
  const device = DEVICES.find((known) => plain(known.name) === plain(name));
  if (device !== undefined) return device;
  const names = DEVICES.map((known) => known.name).join(', ');
  throw invalid(`device: there is no ${JSON.stringify(name.slice(0, 60))}; it is one of ${names}`);
}

/** Returns the client hints that go with a user agent of a device. */
export function hintsOf(userAgent: string): Protocol.Emulation.UserAgentMetadata | undefined {
  return DEVICES.find((device) => device.userAgent === userAgent)?.hints;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}

function apple(name: string, width: number, height: number, deviceScaleFactor: number): Device {
  const isPad = name.startsWith('iPad');
  const system = isPad ? 'iPad; CPU OS 16_6' : 'iPhone; CPU iPhone OS 16_6';
  const userAgent =
    `Mozilla/5.0 (${system} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ` +
    'Version/16.6 Mobile/15E148 Safari/604.1';
  const platform = isPad ? 'iPad' : 'iPhone';
  return { name, width, height, deviceScaleFactor, userAgent, platform };
}

function android(
  name: string,
  width: number,
  height: number,
  deviceScaleFactor: number,
  model: string,
): Device {
  const userAgent =
    `Mozilla/5.0 (Linux; Android 13; ${model}) AppleWebKit/537.36 (KHTML, like Gecko) ` +
    `Chrome/${CHROME}.0.0.0 Mobile Safari/537.36`;
  const brands = [
    { brand: 'Chromium', version: CHROME },
    { brand: 'Google Chrome', version: CHROME },
  ];
  const system = { platform: 'Android', platformVersion: '13.0.0', architecture: '' };
  const hints = { brands, ...system, model, mobile: true };
  return {
    name,
    width,
    height,
    deviceScaleFactor,
    userAgent,
    platform: 'Linux armv81',
    hints,
  };
}
