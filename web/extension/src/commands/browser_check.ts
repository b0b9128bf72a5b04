/**
 * Command `browser_check`: turns a check box, radio button or switch on or off.
 *
 * By a click, and only if it is not so already; looks afterwards whether it worked.
 */

import { CommandError } from '../command';
import { clickElement, PLAIN_CLICK } from '../driver/input/clicks';
import { checkTarget, onElement, reportElement, type Target } from '../driver/page/elements';
import type { Page } from '../driver/page/page';
import { defineCommand } from './define-command';

export default defineCommand('browser_check', async (page, { ref, selector, checked }) => {
  checkTarget({ ref, selector });
  const before = await look(page, { ref, selector });
  if (before.checked === checked) {
    const { url = '', title = '' } = await page.tab();
    return { url, title, element: before.element, checked };
  }
  // The very element that was looked at, even if the selector now matches another.
  const target = { ref: before.element.ref };
  const report = await clickElement(page, target, PLAIN_CLICK, false);
  const isReadable = report.navigated === undefined && report.dialog === undefined;
  const after = isReadable ? await look(page, target).catch(() => undefined) : undefined;
  if (after !== undefined && after.checked !== checked) {
    throw new CommandError(
      'WRONG_ELEMENT',
      `the click did not turn it ${checked ? 'on' : 'off'}; ` +
        'a radio button is turned off by choosing another',
    );
  }
  return { ...report, checked };
});

async function look(page: Page, target: Target) {
  const found = await onElement(page, target, (locator) => ({
    method: 'checked',
    args: [locator],
  }));
  const { checked, element } = found.value;
  if (checked === null) {
    throw new CommandError(
      'WRONG_ELEMENT',
      `${element.role || element.tag} cannot be checked; ` +
        'it must be a check box, radio button or switch',
    );
  }
  return { checked, element: reportElement(found, element) };
}
