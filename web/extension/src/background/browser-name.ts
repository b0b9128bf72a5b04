/**
 * What people call this browser.
 */

import { isRecord, isText } from '../check';

/** From a brand as browsers tell it to the word people use; the first that fits wins. */
const BRANDS: ReadonlyArray<readonly [brand: string, name: string]> = [
  ['Brave', 'Brave'],
  ['Microsoft Edge', 'Edge'],
  ['Opera', 'Opera'],
  ['Vivaldi', 'Vivaldi'],
  ['Google Chrome', 'Chrome'],
  ['Chromium', 'Chromium'],
];

/** Returns the browser's name, such as `Chrome`. */
export function browserName(userAgentData: unknown): string {
  const brands = isRecord(userAgentData) ? userAgentData.brands : undefined;
  const told = Array.isArray(brands) ? brands.filter(isRecord).map(({ brand }) => brand) : [];
  const names = new Set(told.filter(isText));
  return BRANDS.find(([brand]) => names.has(brand))?.[1] ?? 'Browser';
}

/** Returns what the session shall be called: what the host says, else browser and profile. */
export function sessionName(browser: string, label: string, byHost: string | undefined): string {
  return byHost ?? `${browser} ${label}`.trim();
}
