/**
 * Small questions to data from outside: storage, messages, the native host, the hub.
 */

export { isRecord, messageOf } from '@tabwire/shared';

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Tells whether a value can be the id of a tab, a window or a group. */
export function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export function isPort(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 65535;
}

/** Tells whether a value is a list of which each element passes. */
export function isListOf<T>(
  value: unknown,
  isElement: (element: unknown) => element is T,
): value is T[] {
  return Array.isArray(value) && value.every(isElement);
}
