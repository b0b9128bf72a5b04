/**
 * Runs one call of the hub: checks everything that can be refused, then the command.
 *
 * In comes `callTool`; out goes the command's result, or an error with a code and a message for
 * the client. It ends before the call's deadline, so that the client hears why and not only that.
 */

import type { Call, CallingClient, ToolSpec } from '@tabwire/shared';
import { type Command, CommandError, type Effect } from './command';
import { COMMANDS } from './commands';
import { sendEventsTo } from './driver/common/hub-events';
import { checkPage } from './driver/common/restricted-pages';
import type { Services } from './driver/common/services';
import { ignore, within } from './driver/common/time-limits';
import { DocumentGone, unresponsive } from './driver/page/content-calls';
import { untilFirstDocument } from './driver/page/loading';
import { type Caller, Page } from './driver/page/page';
import { callTool, discover } from './driver/page/page-tools';
import { wakeTab } from './driver/page/sleeping-tabs';
import { requestWorkerPort } from './driver/page/worker-port';
import { driverReady } from './driver/register';
import { checkNoDialog } from './driver/tab/dialogs';

export type { Services } from './driver/common/services';
export { registerDriver } from './driver/register';

// The answer needs a moment on its way; the hub waits no longer than the deadline.
const LEAST_MARGIN_MS = 100;
const MOST_MARGIN_MS = 1_000;

const NOBODY: CallingClient = { id: 'unknown', name: 'Tabwire' };

const commands = new Map(COMMANDS.map((command) => [command.name, command]));

/** The names of all commands, as `prove` tells them. */
export const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => name);

/** Runs a call; what it throws has a `code`. */
export async function execute(
  call: Call,
  context: { readonly signal: AbortSignal },
  services: Services,
): Promise<unknown> {
  const endsAt = performance.now() + usableTime(call.deadlineMs);
  sendEventsTo(services.emit);
  const command = commandOf(call);
  const caller: Caller = {
    client: ('client' in call ? call.client : undefined) ?? NOBODY,
    services,
    limits: { signal: context.signal, endsAt },
  };
  try {
    const work = run(command, call, caller);
    return await within(work, caller.limits, Infinity, unresponsive);
  } catch (error) {
    if (error instanceof DocumentGone) throw unresponsive();
    throw error;
  }
}

// Nobody waits for it.
const DISCOVERY_MS = 10_000;

/**
 * Lists the tools of a tab's page for ourselves. Pages that may not be read have none; undefined
 * means that the page could not be seen just now, as while a frame of it is replaced.
 */
export async function discoverTools(
  tabId: number,
  services: Services,
): Promise<ToolSpec[] | undefined> {
  const limits = {
    signal: AbortSignal.timeout(DISCOVERY_MS),
    endsAt: performance.now() + DISCOVERY_MS,
  };
  const page = new Page(tabId, { client: NOBODY, services, limits });
  try {
    if (!(await mayBeRead(page, services))) return [];
    return await discover(page).catch(() => undefined);
  } finally {
    page.close();
  }
}

async function mayBeRead(page: Page, services: Services): Promise<boolean> {
  try {
    await driverReady();
    const { url = '' } = await page.tab();
    await checkPage(url, services);
    await services.checkSite(await page.site());
    return true;
  } catch {
    return false;
  }
}

async function run(command: Command, call: Call, caller: Caller): Promise<unknown> {
  const args = call.type === 'callTool' ? call.args : {};
  // Arguments are read before anything is asked or touched.
  if (command.on === 'browser') {
    const work = command.bind(args);
    await checkUser(command, caller.services);
    return work(caller);
  }
  const work = command.bind(args);
  await checkUser(command, caller.services);
  const tabId = 'tabId' in call ? call.tabId : undefined;
  if (tabId === undefined) {
    throw new CommandError('TAB_NOT_FOUND', `${command.name} needs a tab; say which`);
  }
  const page = new Page(tabId, caller);
  try {
    await driverReady();
    await prepare(command, page);
    const result = await work(page);
    if (command.effect !== 'read') requestWorkerPort(page);
    return result;
  } finally {
    page.close();
  }
}

async function checkUser(command: Command, services: Services): Promise<void> {
  if (await services.isStopped()) {
    throw new CommandError(
      'STOPPED_BY_USER',
      'the user has stopped Tabwire in this browser; ask before going on',
    );
  }
  if (command.effect !== 'read' && (await services.isReadOnly())) {
    throw new CommandError(
      'READ_ONLY',
      `the user allows looking only, and ${command.name} changes something; ask for more rights`,
    );
  }
}

async function prepare(command: Exclude<Command, { on: 'browser' }>, page: Page): Promise<void> {
  const found = await page.tab();
  const tab = command.on === 'page' ? await untilFirstDocument(page, found) : found;
  const { url = '' } = tab;
  if (command.on === 'page') await checkPage(url, page.services);
  if (command.on === 'site') await page.services.checkSite(url);
  if (!command.answersDialog) checkNoDialog(page.tabId);
  if (command.on === 'page') await page.services.checkSite(await page.site());
  if (command.on === 'page') await wakeTab(page, tab);
  if (command.effect === 'read') return;
  // The group is only shown: nothing waits for it.
  ignore(Promise.resolve(page.services.claim(page.tabId, page.client)));
}

/** Returns what a call wants done: a command of ours, or something with the tools of a page. */
function commandOf(call: Call): Command {
  switch (call.type) {
    case 'discoverTools':
      return onPage('discoverTools', 'read', () => discover);
    case 'callTool':
      if (call.target === 'command') return findCommand(call.toolName);
      // A page's word that a tool only looks is no reason to believe it.
      return onPage(call.toolName, 'act', (args) => (page) => callTool(page, call.toolName, args));
    default:
      throw new CommandError('unknown_tool', `this browser does not do ${call.type}`);
  }
}

function onPage(
  name: string,
  effect: Effect,
  bind: (args: unknown) => (page: Page) => Promise<unknown>,
): Command {
  return { name, effect, on: 'page', answersDialog: false, bind };
}

function findCommand(name: string): Command {
  const command = commands.get(name);
  if (command !== undefined) return command;
  throw new CommandError('unknown_tool', `this browser has no command ${name}`);
}

function usableTime(deadlineMs: number): number {
  const margin = Math.max(LEAST_MARGIN_MS, Math.min(MOST_MARGIN_MS, deadlineMs / 10));
  return Math.max(0, deadlineMs - margin);
}
