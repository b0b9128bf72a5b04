/**
 * Command `browser_type`: writes text into a field, or where the caret is.
 *
 * All at once, as a paste would, or key by key with `delayMs`. Fields that take no text (dates,
 * colours, sliders) get their value set. Answers with the value that the field has then.
 */

import { pause } from '../driver/common/time-limits';
import { readValue, setUntyped } from '../driver/input/field-values';
import { insertText, pressKey, typeCharacter } from '../driver/input/input-events';
import { parseStroke } from '../driver/input/keys';
import { type FoundElement, isTargeted, onElement, reportElement } from '../driver/page/elements';
import type { Page, Performed } from '../driver/page/page';
import type { Session } from '../driver/tab/debugger';
import { defineCommand } from './define-command';

export default defineCommand('browser_type', async (page, args) => {
  const { ref, selector, submit } = args;
  const target = { ref, selector };
  let field: FoundElement<string> | undefined;
  const report = await page.act(async (session) => {
    const performed: Performed = isTargeted(target)
      ? await focus(page, args)
      : { armed: await page.armTop() };
    const clear = args.clear ?? isTargeted(target);
    const acted = write(page, session, performed, { ...args, clear });
    // The value must be read before the page may be left.
    const typed = acted.then(async () => {
      field = await readValue(page, performed.element?.ref);
      if (submit) await pressKey(session, parseStroke('Enter'));
    });
    // Key by key takes as long as it takes; the wait for its effect begins afterwards.
    if (args.delayMs > 0) await page.guard(typed, Infinity);
    return { ...performed, acted: typed, inSteps: true };
  });
  return field === undefined ? report : { ...report, value: field.value };
});

interface Wish {
  readonly text: string;
  readonly delayMs: number;
  readonly clear: boolean;
}

async function focus(
  page: Page,
  {
    ref,
    selector,
    clear,
  }: { ref: string | undefined; selector: string | undefined; clear: boolean | undefined },
): Promise<Performed & { armed: NonNullable<Performed['armed']> }> {
  const found = await onElement(page, { ref, selector }, (locator) => ({
    method: 'focus',
    args: [locator, { select: clear ?? true }],
    arm: 'before',
  }));
  return { armed: found.where, element: reportElement(found, found.value) };
}

async function write(
  page: Page,
  session: Session,
  { armed }: Performed,
  { text, delayMs, clear }: Wish,
): Promise<void> {
  if (armed !== undefined && (await setUntyped(page, armed, text))) return;
  if (text === '') {
    // What is selected goes; inserting nothing would leave it.
    if (clear) await pressKey(session, parseStroke('Delete'));
    return;
  }
  if (delayMs === 0) {
    await insertText(session, text);
    return;
  }
  for (const character of text) {
    await typeCharacter(session, character);
    await pause(page.limits, delayMs);
  }
}
