/**
 * Command `browser_select`: chooses options of a list by value, label or index.
 */

import { invalid } from '../command';
import { checkTarget, onElement, reportElement } from '../driver/page/elements';
import { defineCommand } from './define-command';

export default defineCommand('browser_select', async (page, { ref, selector, ...wish }) => {
  checkTarget({ ref, selector });
  const wanted = readWish(wish);
  let selected: readonly string[] = [];
  const report = await page.act(async () => {
    const found = await onElement(page, { ref, selector }, (locator) => ({
      method: 'select',
      args: [locator, wanted],
      arm: 'before',
    }));
    selected = found.value.selected;
    return { armed: found.where, element: reportElement(found, found.value.element) };
  });
  return { ...report, selected };
});

interface Wish {
  readonly value: string | undefined;
  readonly values: readonly string[] | undefined;
  readonly label: string | undefined;
  readonly index: number | undefined;
}

function readWish({ value, values, label, index }: Wish) {
  const given = [value, values, label, index].filter((way) => way !== undefined);
  if (given.length !== 1) throw invalid('give exactly one of value, values, label or index');
  if (label !== undefined) return { label };
  if (index !== undefined) return { index };
  return { values: values ?? (value === undefined ? [] : [value]) };
}
