/**
 * Command `browser_set_user_agent`: lets a tab call itself another browser, in requests and to
 * scripts.
 */

import { invalid } from '../command';
import { emulate } from '../driver/emulation/emulation';
import { defineCommand } from './define-command';

const LONGEST = 1_000;

export default defineCommand('browser_set_user_agent', async (page, { userAgent, platform }) => {
  checkHeader('userAgent', userAgent);
  if (platform !== undefined) checkHeader('platform', platform);
  return { emulated: await emulate(page, { userAgent, platform, device: undefined }) };
});

function checkHeader(name: string, value: string): void {
  if (/^[\x20-\x7e]+$/.test(value) && value.trim() !== '' && value.length <= LONGEST) return;
  throw invalid(
    `${name} must be 1 to ${LONGEST} printable ASCII characters in one line; ` +
      'to have the own one again, reset the emulation',
  );
}
