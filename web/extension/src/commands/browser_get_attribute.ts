/**
 * Command `browser_get_attribute`: one attribute of an element, as the page has written it.
 *
 * The value of a password field is masked.
 */

import { invalid } from '../command';
import { checkTarget, onElement, reportElement } from '../driver/page/elements';
import { defineCommand } from './define-command';

const LONGEST = 20_000;

export default defineCommand(
  'browser_get_attribute',
  async (page, { ref, selector, attribute }) => {
    checkTarget({ ref, selector });
    const name = attribute.trim();
    if (name === '') throw invalid('attribute must be the name of one, such as href');
    const found = await onElement(page, { ref, selector }, (locator) => ({
      method: 'attribute',
      args: [locator, name],
    }));
    const { value, element } = found.value;
    const left = (value?.length ?? 0) - LONGEST;
    return {
      attribute: name,
      value: value?.slice(0, LONGEST) ?? null,
      ref: reportElement(found, element).ref,
      ...(left > 0 ? { leftOut: left } : {}),
    };
  },
);
