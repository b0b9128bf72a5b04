/**
 * Files by path, which only the debugger may put into an input.
 *
 * The input is marked by the content script and found again in our isolated world, through closed
 * shadow roots too; frames of other processes are out of reach of this way.
 */

import { CommandError } from '../command';
import type { Session } from './debugger';
import { onDebuggerEvent } from './debugger-events';
import { onElement, reportElement, type Target } from './elements';
import { type Fields, fieldsOf, textIn } from './fields';
import type { Page, Performed } from './page';

/** Puts files of this machine into a file input. */
export async function setFilePaths(
  page: Page,
  session: Session,
  target: Target,
  files: readonly string[],
): Promise<Performed> {
  if (!(await chrome.extension.isAllowedFileSchemeAccess())) throw noFileAccess();
  const found = await onElement(page, target, (locator) => ({
    method: 'mark',
    args: [locator],
    arm: 'after',
  }));
  const objectId = await findMarked(page, session, found.value.selector);
  // The page can see the mark: it stays no longer than needed.
  await page.call({ where: found.where, method: 'unmark', args: [] });
  if (objectId === undefined) throw outOfReach();
  if (files.length > 1 && !(await takesSeveral(session, objectId))) throw oneOnly();
  const missing = await page.guard(firstUnreadable(session, objectId, files), 10_000);
  if (missing !== undefined) throw unreadable(missing);
  await page.guard(session.send('DOM.setFileInputFiles', { files, objectId }), 10_000);
  return { armed: found.where, element: reportElement(found, found.value.element) };
}

/**
 * Chrome takes a path to nowhere without a word. So an input that nobody sees gets the files
 * first, and what can be read is found out by reading.
 */
async function firstUnreadable(
  session: Session,
  inputId: string,
  files: readonly string[],
): Promise<string | undefined> {
  const twin = await session.send('Runtime.callFunctionOn', {
    objectId: inputId,
    functionDeclaration: unseenTwin.toString(),
  });
  const objectId = textIn(fieldsOf(twin.result), 'objectId');
  if (objectId === undefined) return undefined;
  await session.send('DOM.setFileInputFiles', { files, objectId });
  const answer = await session.send('Runtime.callFunctionOn', {
    objectId,
    functionDeclaration: readableFiles.toString(),
    awaitPromise: true,
    returnByValue: true,
  });
  const { value } = fieldsOf(answer.result);
  const names: unknown[] = Array.isArray(value) ? value : [];
  return files.find((file) => !names.includes(file.split(/[\\/]/).at(-1)));
}

// Serialised into our world in the page: may not close over this module.
function unseenTwin(this: HTMLInputElement): HTMLInputElement {
  const twin = document.createElement('input');
  twin.type = 'file';
  twin.multiple = true;
  return twin;
}

async function takesSeveral(session: Session, objectId: string): Promise<boolean> {
  const functionDeclaration = 'function () { return this.multiple }';
  const call = { objectId, functionDeclaration, returnByValue: true };
  const answer = await session.send('Runtime.callFunctionOn', call);
  return fieldsOf(answer.result).value === true;
}

// Serialised into our world in the page: may not close over this module.
async function readableFiles(this: HTMLInputElement): Promise<string[]> {
  const names: string[] = [];
  for (const file of this.files ?? []) {
    // A file that is not there has the size 0, and then a part of it can be read.
    const part = file.size === 0 ? file : file.slice(0, 1);
    const isRead = await part.arrayBuffer().then(
      () => true,
      () => false,
    );
    if (isRead) names.push(file.name);
  }
  return names;
}

/** Looks for a marked element in all our worlds; the mark is unique. */
async function findMarked(
  page: Page,
  session: Session,
  selector: string,
): Promise<string | undefined> {
  for (const uniqueContextId of await ownContexts(session)) {
    const expression = `(${findDeep.toString()})(${JSON.stringify(selector)})`;
    const answer = await page.guard(
      session.send('Runtime.evaluate', { expression, uniqueContextId }),
      10_000,
    );
    const objectId = textIn(fieldsOf(answer.result), 'objectId');
    if (objectId !== undefined) return objectId;
  }
  return undefined;
}

/** Turning `Runtime` on tells all contexts; their names keep working when it is off again. */
async function ownContexts(session: Session): Promise<string[]> {
  const contexts: string[] = [];
  const stop = onDebuggerEvent((tabId, method, params) => {
    if (tabId !== session.tabId || method !== 'Runtime.executionContextCreated') return;
    const context = fieldsOf(params.context);
    const id = textIn(context, 'uniqueId');
    if (id !== undefined && isOwn(context)) contexts.push(id);
  });
  try {
    // Only a change from off to on tells them; whoever wants the console turns it on again.
    await session.send('Runtime.disable');
    await session.send('Runtime.enable');
  } finally {
    stop();
  }
  return contexts;
}

function isOwn(context: Fields): boolean {
  return textIn(context, 'origin') === `chrome-extension://${chrome.runtime.id}`;
}

// Serialised into the page: may not close over this module.
function findDeep(selector: string): Element | null {
  const search = (root: Document | ShadowRoot): Element | null => {
    const found = root.querySelector(selector);
    if (found !== null) return found;
    for (const element of root.querySelectorAll('*')) {
      const inner =
        element instanceof HTMLElement ? chrome.dom.openOrClosedShadowRoot(element) : null;
      const deeper = inner === null ? null : search(inner as ShadowRoot);
      if (deeper !== null) return deeper;
    }
    return null;
  };
  return search(document);
}

function oneOnly(): CommandError {
  return new CommandError('WRONG_ELEMENT', 'this input takes one file only; give one');
}

function unreadable(name: string): CommandError {
  return new CommandError(
    'INVALID_ARGUMENT',
    `the file ${JSON.stringify(name)} cannot be read; give the full path of a file on the browser's machine`,
  );
}

function noFileAccess(): CommandError {
  return new CommandError(
    'RESTRICTED_PAGE',
    'Tabwire may not read files by path: allow access to file URLs in chrome://extensions, ' +
      'or send the content as {name, mimeType, data}',
  );
}

function outOfReach(): CommandError {
  return new CommandError(
    'WRONG_ELEMENT',
    'this file input is in a frame of another site; send the content as {name, mimeType, data}',
  );
}
