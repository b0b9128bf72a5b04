/**
 * The argument `fields` of a form that is filled: which fields, by which name, with which value.
 *
 * Checks shapes only; whether there are such fields is found out later.
 */

import { isRecord } from '../../check';
import { type Argument, invalid } from '../../command';
import type { FieldPlan } from '../../content/api';
import { quoted } from '../../quoted';

/** One field as the caller names it. */
export interface FieldWish {
  /** Its place in the list, for messages. */
  readonly at: number;
  /** What the caller called it. */
  readonly named: string;
  readonly by: 'label' | 'ref' | 'selector';
  readonly value: string;
}

/** A field that is there and takes its value. */
export interface ReadyField {
  readonly wish: FieldWish;
  readonly ref: string;
  /** The number of its document. */
  readonly document: number;
  readonly plan: FieldPlan;
}

/** Returns a field's name for messages. */
export function nameOf({ wish: { at, named } }: { readonly wish: FieldWish }): string {
  return `fields.${at} ${quoted(named)}`;
}

const MOST_FIELDS = 100;
const NAMING_WAYS = ['ref', 'selector', 'label'] as const;

/** Reads the list; whatever is wrong is told by its place. */
export function formFields(): Argument<readonly FieldWish[]> {
  return {
    wants: `a list of 1 to ${MOST_FIELDS} fields, each with ref, selector or label, and value`,
    isOptional: false,
    read(value) {
      if (!Array.isArray(value) || value.length === 0 || value.length > MOST_FIELDS) {
        return undefined;
      }
      return { value: value.map(readField) };
    },
  };
}

function readField(given: unknown, at: number): FieldWish {
  const place = `fields.${at}`;
  if (!isRecord(given))
    throw invalid(`${place} must be an object with ref, selector or label, and value`);
  for (const name of Object.keys(given)) {
    if (name !== 'value' && !NAMING_WAYS.some((way) => way === name)) {
      throw invalid(`${place} has no ${name}; it takes ${NAMING_WAYS.join(', ')} and value`);
    }
  }
  const ways = NAMING_WAYS.filter((way) => given[way] !== undefined && given[way] !== null);
  const [by] = ways;
  if (by === undefined) throw invalid(`${place} must name its field by ref, selector or label`);
  if (ways.length > 1) throw invalid(`${place} has ${ways.join(' and ')}; give only one`);
  const { [by]: named, value } = given;
  if (typeof named !== 'string' || named.trim() === '') {
    throw invalid(`${place}.${by} must be a string that is not empty`);
  }
  if (typeof value !== 'string') {
    throw invalid(`${place}.value must be a string; check boxes take "true" or "false"`);
  }
  return { at, named, by, value };
}
