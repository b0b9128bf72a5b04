/**
 * Command `browser_set_locale`: lets a page believe that its reader speaks another language.
 *
 * Numbers and dates, `navigator.language` and the header `Accept-Language` follow.
 */

import { invalid } from '../command';
import { emulate } from '../driver/emulation/emulation';
import { defineCommand } from './define-command';

export default defineCommand('browser_set_locale', async (page, { locale }) => {
  return { emulated: await emulate(page, { locale: readLocale(locale) }) };
});

/** Chrome takes any text for a locale, and then shows English. */
function readLocale(text: string): string {
  const tag = text.trim().replace('_', '-');
  try {
    const [locale] = Intl.getCanonicalLocales(tag);
    if (locale !== undefined && Intl.NumberFormat.supportedLocalesOf(locale).length > 0) {
      return locale;
    }
  } catch {
    // Falls through to the one answer.
  }
  throw invalid(
    `locale: there is no language ${JSON.stringify(text.slice(0, 60))}; ` +
      'give a name like de-DE or pt-BR',
  );
}
