/**
 * Command `browser_handle_dialog`: answers an open alert, confirm, prompt or "leave page?" dialog.
 *
 * Passes by every other call of the tab, since those wait for it.
 */

import { CommandError } from '../command';
import { ProtocolFailure } from '../driver/tab/debugger';
import { dialogOf, forgetDialog } from '../driver/tab/dialogs';
import { defineCommand } from './define-command';

export default defineCommand(
  'browser_handle_dialog',
  async (page, { dialogAction, promptText }) => {
    const dialog = dialogOf(page.tabId);
    if (dialog === undefined) throw noDialog();
    const accept = dialogAction === 'accept';
    const text = promptText ?? dialog.defaultValue;
    const report = await page.act(async (session) => {
      const params = text === undefined ? { accept } : { accept, promptText: text };
      const acted = session.send('Page.handleJavaScriptDialog', params).catch((error) => {
        if (!(error instanceof ProtocolFailure)) throw error;
        forgetDialog(page.tabId);
        throw noDialog();
      });
      return { acted };
    });
    const { type, message } = dialog;
    return { handled: { type, message }, ...report };
  },
);

function noDialog(): CommandError {
  return new CommandError('NO_DIALOG', 'no dialog is open in this tab; go on with the page itself');
}
