/**
 * Command `browser_fill_form`: fills many fields of a form in one go, and sends it if wanted.
 *
 * All fields are found and checked before the first is touched; the page is waited for once, at the
 * end. Answers with what is in each field then.
 */

import { boolean, defineCommand, optional } from '../command';
import { resolveFields } from '../driver/input/field-targets';
import { checkSubmit, type Filled, fillFields } from '../driver/input/fill';
import { FIELDS } from '../driver/input/form-fields';

export default defineCommand({
  name: 'browser_fill_form',
  effect: 'act',
  args: { fields: FIELDS, submit: optional(boolean(), false) },

  async run(page, { fields, submit }) {
    const filled: Filled[] = [];
    const report = await page.act(async (session) => {
      const ready = await resolveFields(page, fields);
      if (submit) checkSubmit(ready);
      return fillFields(page, session, ready, submit, filled);
    });
    return { ...report, filled };
  },
});
