/**
 * Fills the fields of a form: looks at all of them first, then fills one after the other.
 *
 * Nothing is touched before every field was found and can take its value. What cannot be typed into
 * is set; everything else gets trusted input. A field that the page has replaced in between is
 * looked for again by its selector or label.
 */

import { CommandError, invalid } from '../../command';
import type { FilledField } from '../../generated/command-results';
import { ALL, DocumentGone } from '../page/content-calls';
import { aimAt, onElement } from '../page/elements';
import { EVERYWHERE, type Page, type Performed } from '../page/page';
import type { Session } from '../tab/debugger';
import { printReference } from '../tab/documents';
import { PLAIN_CLICK } from './clicks';
import { resolveFields } from './field-targets';
import { nameOf, type ReadyField } from './form-fields';
import { clickMouse, insertText, pressKey } from './input-events';
import { parseStroke } from './keys';

const INPUT_WITHIN_MS = 10_000;
const QUIET = { quietMs: 50, capMs: 1_000 };
const LISTED = 20;

/** Fills fields that were found, and sends the form if wanted; `filled` tells what was done. */
export async function fillFields(
  page: Page,
  session: Session,
  fields: readonly ReadyField[],
  submit: boolean,
  filled: FilledField[],
): Promise<Performed> {
  await page.read({ where: ALL, method: 'arm', args: [] });
  const done: ReadyField[] = [];
  for (const field of fields) {
    try {
      done.push(await fillAgain(page, session, field));
    } catch (error) {
      throw withProgress(error, nameOf(field), done);
    }
  }
  const last = done[done.length - 1];
  await leave(page, last);
  for (const field of done) filled.push(await look(page, field));
  if (!submit || last === undefined) return { armed: EVERYWHERE };
  try {
    return await send(page, session, last);
  } catch (error) {
    throw withProgress(error, 'submit', done);
  }
}

/** Throws if a form could not be sent after its last field. */
export function checkSubmit(fields: readonly ReadyField[]): void {
  const plan = fields[fields.length - 1]?.plan;
  if (plan === undefined || plan.hasForm || plan.way.type === 'type') return;
  throw invalid(
    'submit: the last field is in no form; leave submit out and click the button of the page',
  );
}

async function fillAgain(page: Page, session: Session, field: ReadyField): Promise<ReadyField> {
  try {
    await fillOne(page, session, field);
    return field;
  } catch (error) {
    const isGone = error instanceof CommandError && error.code === 'DEAD_REFERENCE';
    if (!isGone || field.wish.by === 'ref') throw error;
    // The page has put another in its place: wait until it is done with that.
    await page.call({ where: ALL, method: 'untilQuiet', args: [QUIET] });
    const [again] = await resolveFields(page, [field.wish], '');
    if (again?.document !== field.document) throw new DocumentGone('the page was left');
    await fillOne(page, session, again);
    return again;
  }
}

async function fillOne(page: Page, session: Session, field: ReadyField): Promise<void> {
  page.limits.signal.throwIfAborted();
  const { ref, plan, wish } = field;
  const { way } = plan;
  switch (way.type) {
    case 'type': {
      await onElement(page, { ref }, (locator) => ({
        method: 'focus',
        args: [locator, { select: true }],
      }));
      // What is selected goes with Delete; inserting nothing would leave it.
      const written =
        wish.value === ''
          ? pressKey(session, parseStroke('Delete'))
          : insertText(session, wish.value);
      await page.guard(written, INPUT_WITHIN_MS);
      return;
    }
    case 'set':
      await onElement(page, { ref }, (locator) => ({
        method: 'setField',
        args: [locator, wish.value],
      }));
      return;
    case 'select':
      await onElement(page, { ref }, (locator) => ({
        method: 'select',
        args: [locator, { values: way.values }],
      }));
      return;
    case 'toggle':
      return toggle(page, session, field.document, way);
    default:
      return way satisfies never;
  }
}

async function toggle(
  page: Page,
  session: Session,
  document: number,
  way: { readonly ref: number; readonly wanted: boolean },
): Promise<void> {
  const ref = printReference({ document, element: way.ref });
  if ((await isOn(page, ref)) === way.wanted) return;
  const { point } = await aimAt(page, { ref }, false, false);
  await page.guard(clickMouse(session, point, PLAIN_CLICK), INPUT_WITHIN_MS);
  if ((await isOn(page, ref)) === way.wanted) return;
  // Some pages think about it first.
  await page.call({ where: ALL, method: 'untilQuiet', args: [QUIET] });
  if ((await isOn(page, ref)) === way.wanted) return;
  throw new CommandError(
    'WRONG_ELEMENT',
    `the click did not turn it ${way.wanted ? 'on' : 'off'}; look with browser_snapshot`,
  );
}

async function isOn(page: Page, ref: string): Promise<boolean> {
  const found = await onElement(page, { ref }, (locator) => ({
    method: 'checked',
    args: [locator],
  }));
  return found.value.checked === true;
}

/** The page hears of the last field's change too; one with suggestions keeps them open. */
async function leave(page: Page, last: ReadyField | undefined): Promise<void> {
  if (last?.plan.way.type !== 'type' || last.plan.element.role === 'combobox') return;
  await tolerant(
    onElement(page, { ref: last.ref }, (locator) => ({ method: 'leaveField', args: [locator] })),
  );
}

async function look(page: Page, { wish, ref, plan }: ReadyField): Promise<FilledField> {
  const { role, name } = plan.element;
  const told = { field: wish.named, role, name };
  const found = await tolerant(
    onElement(page, { ref }, (locator) => ({ method: 'fieldValue', args: [locator] })),
  );
  return found === undefined ? told : { ...told, value: found.value.value };
}

/** What the page has taken away, left or covered with a dialog by now is not told. */
async function tolerant<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const isExpected = error instanceof CommandError || error instanceof DocumentGone;
    if (isExpected) return undefined;
    throw error;
  }
}

async function send(page: Page, session: Session, { ref, plan }: ReadyField): Promise<Performed> {
  if (plan.hasForm) {
    await onElement(page, { ref }, (locator) => ({ method: 'submit', args: [locator] }));
    return { armed: EVERYWHERE };
  }
  await onElement(page, { ref }, (locator) => ({
    method: 'focus',
    args: [locator, { select: false }],
  }));
  return { armed: EVERYWHERE, acted: pressKey(session, parseStroke('Enter')) };
}

function withProgress(error: unknown, where: string, done: readonly ReadyField[]): unknown {
  const isGone = error instanceof DocumentGone;
  if (!isGone && !(error instanceof CommandError)) return error;
  const code = isGone ? 'PAGE_UNRESPONSIVE' : error.code;
  const reason = isGone ? 'the page was left while it was being filled' : error.message;
  const names = done.slice(0, LISTED).map(nameOf);
  const more = done.length - names.length;
  const list = more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
  const before = done.length === 0 ? 'nothing was filled before' : `already filled: ${list}`;
  return new CommandError(code, `${where}: ${reason}; ${before}`);
}
