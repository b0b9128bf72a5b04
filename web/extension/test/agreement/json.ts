/**
 * Reads answers of the browser: whatever is missing or of another kind is read as empty.
 */

import { isRecord } from '../../src/check';

export function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
