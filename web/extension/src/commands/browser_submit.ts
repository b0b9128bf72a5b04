/**
 * Command `browser_submit`: submits a form as its own button would, with the page's checks.
 */

import { isProblem, TOP } from '../driver/page/content-calls';
import {
  checkTarget,
  isTargeted,
  onElement,
  reportElement,
  trouble,
} from '../driver/page/elements';
import type { Page, Performed } from '../driver/page/page';
import { defineCommand } from './define-command';

export default defineCommand('browser_submit', async (page, target) => {
  if (!isTargeted(target)) return page.act(() => submitOnly(page));
  checkTarget(target);
  return page.act(async () => {
    const found = await onElement(page, target, (locator) => ({
      method: 'submit',
      args: [locator],
      arm: 'before',
    }));
    return { armed: found.where, element: reportElement(found, found.value) };
  });
});

async function submitOnly(page: Page): Promise<Performed> {
  const [answer] = await page.call({ where: TOP, method: 'submit', args: [null], arm: 'before' });
  if (answer !== undefined && isProblem(answer.value)) throw trouble(answer.value, 1);
  return { armed: TOP };
}
