/**
 * Which tabs have a JavaScript dialog open.
 *
 * While one is open its page answers nothing, so every call but the one that answers the dialog is
 * refused at once, with the dialog's own words. Kept in `storage.session`: a dialog stays open
 * when the worker dies.
 */

import { isRecord } from '../../check';
import { CommandError } from '../../command';
import { quoted } from '../../quoted';
import { emitEvent } from '../common/hub-events';
import type { EventOf } from '../common/protocol';
import { onDebuggerEvent } from './debugger-events';
import { type Dialog, emitSignal } from './signals';
import { KeptTabPart } from './tab-state';

// With the debugger gone nobody can answer it; it would block the tab for good.
const open = new KeptTabPart<Dialog>('dialog', {
  lifetimes: ['attachment'],
  keepsAttached: true,
  read: (kept) => (isDialog(kept) ? kept : undefined),
  undo: (_dialog, tabId) => emitSignal(tabId, { type: 'dialogClosed' }),
});

/** Returns a tab's open dialog. */
export function dialogOf(tabId: number): Dialog | undefined {
  return open.get(tabId);
}

/** Throws `DIALOG_OPEN` if a tab has one. */
export function checkNoDialog(tabId: number): void {
  const dialog = open.get(tabId);
  if (dialog !== undefined) throw dialogOpen(dialog);
}

/** Makes the error that quotes a dialog. */
export function dialogOpen({ type, message }: Dialog): CommandError {
  return new CommandError(
    'DIALOG_OPEN',
    `the page waits for its ${type} dialog: ${quoted(message)}; ` +
      'answer it with browser_debug, action dialog (accept or dismiss)',
  );
}

/** Forgets a dialog, when Chrome says that there is none. */
export function forgetDialog(tabId: number): void {
  if (open.delete(tabId)) emitSignal(tabId, { type: 'dialogClosed' });
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerDialogs(): void {
  onDebuggerEvent('Page.javascriptDialogOpening', takeOpening);
  onDebuggerEvent('Page.javascriptDialogClosed', forgetDialog);
}

function isDialog(value: unknown): value is Dialog {
  return isRecord(value) && typeof value.type === 'string' && typeof value.message === 'string';
}

function takeOpening(
  tabId: number,
  { type, message, defaultPrompt: defaultValue }: EventOf<'Page.javascriptDialogOpening'>,
): void {
  const dialog: Dialog =
    type === 'prompt' && defaultValue ? { type, message, defaultValue } : { type, message };
  open.set(tabId, dialog);
  emitSignal(tabId, { type: 'dialogOpened', dialog });
  emitEvent('dialog', { tabId, dialogType: type, message });
}
