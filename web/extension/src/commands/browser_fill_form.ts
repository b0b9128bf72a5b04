/**
 * Command `browser_fill_form`: fills many fields of a form in one go, and sends it if wanted.
 *
 * All fields are found and checked before the first is touched; the page is waited for once, at the
 * end. Answers with what is in each field then.
 */

import { resolveFields } from '../driver/input/field-targets';
import { checkSubmit, fillFields } from '../driver/input/fill';
import type { FilledField } from '../generated/command-results';
import { defineCommand } from './define-command';

export default defineCommand('browser_fill_form', async (page, { fields, submit }) => {
  const filled: FilledField[] = [];
  const report = await page.act(async (session) => {
    const ready = await resolveFields(page, fields);
    if (submit) checkSubmit(ready);
    return fillFields(page, session, ready, submit, filled);
  });
  return { ...report, filled };
});
