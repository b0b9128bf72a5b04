/**
 * Which tabs have a JavaScript dialog open.
 *
 * While one is open its page answers nothing, so every call but the one that answers the dialog is
 * refused at once, with the dialog's own words. Kept in `storage.session`: a dialog stays open
 * when the worker dies.
 */

import { CommandError, isRecord } from '../../command';
import { emitEvent } from '../common/hub-events';
import { ignore } from '../common/time-limits';
import { type Fields, textIn } from '../fields';
import { onDebuggerEvent } from './debugger-events';
import { type Dialog, emitSignal } from './signals';

const KEY = 'driver.dialogs';

const open = new Map<number, Dialog>();
/** Tabs whose dialog closed before it was known what an earlier worker left; then nothing. */
let closedEarly: Set<number> | undefined = new Set();

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
    `the page waits for its ${type} dialog: ${JSON.stringify(message)}; ` +
      'answer it with browser_debug, action dialog (accept or dismiss)',
  );
}

/** Forgets a dialog, when Chrome says that there is none. */
export function forgetDialog(tabId: number): void {
  closedEarly?.add(tabId);
  if (!open.delete(tabId)) return;
  keep();
  emitSignal(tabId, { type: 'dialogClosed' });
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerDialogs(): void {
  onDebuggerEvent((tabId, method, params) => {
    if (method === 'Page.javascriptDialogOpening') takeOpening(tabId, params);
    if (method === 'Page.javascriptDialogClosed') forgetDialog(tabId);
  });
  chrome.tabs.onRemoved.addListener(forgetDialog);
  chrome.debugger.onDetach.addListener(({ tabId }) => {
    // Nobody can answer it now; it would block the tab for good.
    if (tabId !== undefined) forgetDialog(tabId);
  });
}

/** Reads what an earlier worker left. */
export async function restoreDialogs(): Promise<void> {
  const { [KEY]: kept } = await chrome.storage.session.get(KEY);
  const entries: unknown[] = Array.isArray(kept) ? kept : [];
  for (const entry of entries) {
    const [tabId, dialog]: unknown[] = Array.isArray(entry) ? entry : [];
    if (typeof tabId !== 'number' || !isDialog(dialog) || open.has(tabId)) continue;
    if (closedEarly?.has(tabId) !== true) open.set(tabId, dialog);
  }
  closedEarly = undefined;
  keep();
}

function isDialog(value: unknown): value is Dialog {
  return isRecord(value) && typeof value.type === 'string' && typeof value.message === 'string';
}

function takeOpening(tabId: number, params: Fields): void {
  const type = textIn(params, 'type') ?? 'alert';
  const message = textIn(params, 'message') ?? '';
  const defaultValue = textIn(params, 'defaultPrompt');
  const dialog: Dialog =
    type === 'prompt' && defaultValue ? { type, message, defaultValue } : { type, message };
  open.set(tabId, dialog);
  keep();
  emitSignal(tabId, { type: 'dialogOpened', dialog });
  emitEvent('dialog', { tabId, dialogType: type, message });
}

function keep(): void {
  ignore(chrome.storage.session.set({ [KEY]: [...open] }));
}
