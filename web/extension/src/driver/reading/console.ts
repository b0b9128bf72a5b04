/**
 * What pages wrote to their consoles.
 *
 * Chrome keeps a document's messages and tells them again to whoever turns `Runtime` on, so
 * nothing is lost by coming late. It is turned on when somebody first asks and stays on while the
 * debugger is attached; the messages are kept here, also of documents that were left.
 */

import { emitEvent } from '../common/hub-events';
import { permissions } from '../common/permissions';
import type { EventOf, Protocol } from '../common/protocol';
import { mayUse, type Services } from '../common/services';
import { ignore } from '../common/time-limits';
import type { Session } from '../tab/debugger';
import { onDebuggerEvent } from '../tab/debugger-events';
import { EventRate } from '../tab/event-rate';
import { TabPart } from '../tab/tab-state';

export type Level = 'debug' | 'error' | 'info' | 'log' | 'warning';

export interface LogEntry {
  readonly level: Level;
  readonly text: string;
  readonly url?: string;
  readonly line?: number;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  /** An exception that nobody caught. */
  readonly uncaught?: true;
}

const KEPT_MESSAGES = 500;
const LONGEST_MESSAGE = 4_000;

interface ConsoleLog {
  entries: LogEntry[];
  /** What was told again must not count again: what is older was cleared. */
  clearedAt: number;
}

/** Of messages that are told as events; the rest is only kept. */
const rate = new EventRate();
const logs = new TabPart<ConsoleLog>(['tab']);
/** Where new messages are news for the hub; elsewhere they are told again. */
const live = new TabPart<true>(['attachment']);

/** Returns a tab's messages, oldest first. */
export async function readConsole(session: Session): Promise<readonly LogEntry[]> {
  const { tabId } = session;
  const log = logOf(tabId);
  if (!live.has(tabId)) {
    // What Chrome kept is told before the answers come.
    await Promise.all([session.send('Runtime.enable'), session.send('Log.enable')]);
    live.set(tabId, true);
  }
  return [...log.entries].sort((one, other) => one.timestamp - other.timestamp);
}

/** Whether a message is of a site that clients may use, as far as it says. */
export async function mayRead(
  { services }: { readonly services: Pick<Services, 'checkSite'> },
  { url }: LogEntry,
): Promise<boolean> {
  return url === undefined || mayUse(services, url);
}

/** Forgets a tab's messages. */
export function clearConsole(tabId: number): void {
  const log = logOf(tabId);
  log.clearedAt = log.entries.reduce(
    (last, { timestamp }) => Math.max(last, timestamp),
    log.clearedAt,
  );
  log.entries = [];
}

/** Starts to listen; once, synchronously, when the worker starts. */
export function registerConsole(): void {
  onDebuggerEvent('Runtime.consoleAPICalled', (tabId, call) => add(tabId, readCall(call)));
  onDebuggerEvent('Runtime.exceptionThrown', (tabId, thrown) => add(tabId, readException(thrown)));
  onDebuggerEvent('Log.entryAdded', (tabId, { entry }) => add(tabId, readLogEntry(entry)));
}

function add(tabId: number, entry: LogEntry): void {
  const log = logOf(tabId);
  const isLive = live.has(tabId);
  if (!isLive && (entry.timestamp <= log.clearedAt || isKnown(log, entry))) return;
  log.entries.push(entry);
  log.entries.splice(0, log.entries.length - KEPT_MESSAGES);
  if (isLive && rate.mayTell(tabId)) ignore(tell(tabId, entry));
}

/** Tells the hub, unless it is of a site that the user keeps from clients, or of nobody's tab. */
async function tell(tabId: number, { level, text, url, line }: LogEntry): Promise<void> {
  const { allows, drives } = await permissions();
  const tab = await chrome.tabs.get(tabId);
  if (!drives(tabId) || !allows(tab.url ?? '') || !allows(url ?? '')) return;
  const where = { ...(url === undefined ? {} : { url }), ...(line === undefined ? {} : { line }) };
  const weight = level === 'error' || level === 'warning' ? level : 'info';
  emitEvent('console', { tabId, level, text, ...where }, weight);
}

function isKnown({ entries }: ConsoleLog, { timestamp, text }: LogEntry): boolean {
  return entries.some((known) => known.timestamp === timestamp && known.text === text);
}

function logOf(tabId: number): ConsoleLog {
  return logs.ensure(tabId, () => ({ entries: [], clearedAt: 0 }));
}

export function readCall(call: EventOf<'Runtime.consoleAPICalled'>): LogEntry {
  const text = call.args.map(showObject).join(' ');
  return entryOf(levelOf(call.type), text, call.timestamp, call.stackTrace?.callFrames[0]);
}

export function readException(thrown: EventOf<'Runtime.exceptionThrown'>): LogEntry {
  const { exceptionDetails: details, timestamp } = thrown;
  const entry = entryOf('error', describeException(details), timestamp, details);
  return { ...entry, uncaught: true };
}

function readLogEntry(entry: Protocol.Log.LogEntry): LogEntry {
  return entryOf(levelOf(entry.level), entry.text, entry.timestamp, entry);
}

/** Writes an exception: its own text and where it came from. */
export function describeException({
  text,
  exception,
}: Pick<Protocol.Runtime.ExceptionDetails, 'exception' | 'text'>): string {
  if (exception === undefined) return text;
  const { subtype, description } = exception;
  // An error says all by itself; anything else that was thrown needs the word.
  if (subtype === 'error' && description !== undefined) return description;
  return `${text} ${description ?? showObject(exception)}`.trim();
}

function entryOf(
  level: Level,
  text: string,
  timestamp: number,
  { url = '', lineNumber: line = -1 }: { readonly url?: string; readonly lineNumber?: number } = {},
): LogEntry {
  return {
    level,
    text: text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text,
    ...(url === '' ? {} : { url }),
    ...(line < 0 ? {} : { line: line + 1 }),
    timestamp,
  };
}

function levelOf(type: string): Level {
  switch (type) {
    case 'error':
    case 'assert':
      return 'error';
    case 'warning':
      return 'warning';
    case 'info':
      return 'info';
    case 'debug':
    case 'verbose':
      return 'debug';
    default:
      return 'log';
  }
}

/** Writes a value of the page as a console would, in one line. */
function showObject(object: Protocol.Runtime.RemoteObject): string {
  const { value, unserializableValue, preview, description = object.type, subtype } = object;
  if (typeof value === 'string') return value;
  if (value !== undefined) return JSON.stringify(value);
  if (unserializableValue !== undefined) return unserializableValue;
  const properties = preview?.properties ?? [];
  if (properties.length === 0 || subtype === 'error') return description;
  return `${description} {${properties.map((field) => `${field.name}: ${field.value}`).join(', ')}}`;
}
