/**
 * Command `browser_get_content`: the text or HTML of a page or an element, in parts.
 *
 * Text is what can be seen, frames and shadow trees included; HTML is exact but for passwords.
 */

import { checkTarget, isTargeted } from '../driver/page/elements';
import { parseCursor, partOf, readContent } from '../driver/reading/page-content';
import { defineCommand } from './define-command';

export default defineCommand(
  'browser_get_content',
  async (page, { ref, selector, format, maxLength, cursor }) => {
    const target = { ref, selector };
    if (isTargeted(target)) checkTarget(target);
    const from = cursor === undefined ? undefined : parseCursor(cursor);
    const { text, url, leftOut, loading } = await readContent(page, target, format);
    const part = partOf(text, from, maxLength);
    // What is left out is missed at the end only.
    const missed = leftOut > 0 && part.next === undefined ? { leftOut } : {};
    return { ...part, format, url, ...missed, ...(loading ? { loading } : {}) };
  },
);
