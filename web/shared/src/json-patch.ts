/**
 * The difference between two JSON values as a JSON Patch (RFC 6902).
 *
 * Uses `add`, `remove` and `replace` only. Lists are compared from both ends, which keeps the
 * patch small for the usual changes (one element more, less or other); it does not look for
 * elements that moved. Both values are plain JSON, as `JSON.parse` gives them.
 */

import { isRecord } from './values';

export type Operation =
  | { op: 'add' | 'replace'; path: string; value: unknown }
  | { op: 'remove'; path: string };

/** Returns the operations that make `before` into `after`; none if they are equal. */
export function diff(before: unknown, after: unknown): Operation[] {
  const operations: Operation[] = [];
  compare(before, after, '', operations);
  return operations;
}

/** Tells whether two JSON values are the same; the order of keys does not matter. */
export function same(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => same(item, right[index]));
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && same(left[key], right[key]))
  );
}

function compare(before: unknown, after: unknown, path: string, out: Operation[]): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, out);
  else if (isRecord(before) && isRecord(after)) compareObjects(before, after, path, out);
  else out.push({ op: 'replace', path, value: after });
}

function compareObjects(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  path: string,
  out: Operation[],
): void {
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) out.push({ op: 'remove', path: step(path, key) });
  }
  for (const [key, value] of Object.entries(after)) {
    if (Object.hasOwn(before, key)) compare(before[key], value, step(path, key), out);
    else out.push({ op: 'add', path: step(path, key), value });
  }
}

function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
  out: Operation[],
): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && same(before[start], after[start])) start++;
  let tail = 0;
  while (tail < shorter - start && same(before.at(-1 - tail), after.at(-1 - tail))) tail++;

  const common = shorter - tail;
  for (let at = start; at < common; at++) compare(before[at], after[at], `${path}/${at}`, out);
  // From the end, so that each index still means what it meant in `before`.
  for (let at = before.length - tail - 1; at >= common; at--) {
    out.push({ op: 'remove', path: `${path}/${at}` });
  }
  for (let at = common; at < after.length - tail; at++) {
    out.push({ op: 'add', path: `${path}/${at}`, value: after[at] });
  }
}

function step(path: string, key: string): string {
  return `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
