/**
 * What pages wrote to their consoles.
 *
 * Chrome keeps a document's messages and tells them again to whoever turns `Runtime` on, so
 * nothing is lost by coming late. It is turned on when somebody first asks and stays on while the
 * debugger is attached; the messages are kept here, also of documents that were left.
 */

import { emitEvent } from '../common/hub-events';
import { judge } from '../common/permissions';
import type { Services } from '../common/services';
import { ignore } from '../common/time-limits';
import { type Fields, fieldsOf, listIn, numberIn, textIn } from '../fields';
import type { Session } from '../tab/debugger';
import { onDebuggerEvent } from '../tab/debugger-events';
import { listen } from '../tab/signals';

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

const KEPT = 500;
/** Messages of a tab that are told as events; the rest is only kept. */
const TOLD_PER_SECOND = 50;
const LONGEST = 4_000;

interface Log {
  entries: LogEntry[];
  /** What was told again must not count again: what is older was cleared. */
  clearedAt: number;
  /** Whether new messages are news for the hub, or told again. */
  isLive: boolean;
  /** How many were told in which second. */
  second: number;
  told: number;
}

const logs = new Map<number, Log>();

/** Returns a tab's messages, oldest first. */
export async function readConsole(session: Session): Promise<readonly LogEntry[]> {
  const { tabId } = session;
  const log = logOf(tabId);
  if (!log.isLive) {
    // What Chrome kept is told before the answers come.
    await Promise.all([session.send('Runtime.enable'), session.send('Log.enable')]);
    log.isLive = true;
    const stop = listen(tabId, (signal) => {
      if (signal.type !== 'detached' && signal.type !== 'closed') return;
      log.isLive = false;
      stop();
    });
  }
  return [...log.entries].sort((one, other) => one.timestamp - other.timestamp);
}

/** Whether a message is of a site that clients may use, as far as it says. */
export async function mayRead(
  { services }: { readonly services: Pick<Services, 'checkSite'> },
  { url }: LogEntry,
): Promise<boolean> {
  try {
    if (url !== undefined) await services.checkSite(url);
    return true;
  } catch {
    return false;
  }
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
  onDebuggerEvent((tabId, method, params) => {
    const entry = readEvent(method, params);
    if (entry !== undefined) add(tabId, entry);
  });
  chrome.tabs.onRemoved.addListener((tabId) => {
    logs.delete(tabId);
  });
}

function add(tabId: number, entry: LogEntry): void {
  const log = logOf(tabId);
  if (!log.isLive && (entry.timestamp <= log.clearedAt || isKnown(log, entry))) return;
  log.entries.push(entry);
  log.entries.splice(0, log.entries.length - KEPT);
  if (log.isLive && mayTell(log)) ignore(tell(tabId, entry));
}

/** Tells the hub, unless it is of a site that the user keeps from clients, or of nobody's tab. */
async function tell(tabId: number, { level, text, url, line }: LogEntry): Promise<void> {
  const { allows, drives } = await judge();
  const tab = await chrome.tabs.get(tabId);
  if (!drives(tabId) || !allows(tab.url ?? '') || !allows(url ?? '')) return;
  const where = { ...(url === undefined ? {} : { url }), ...(line === undefined ? {} : { line }) };
  const weight = level === 'error' || level === 'warning' ? level : 'info';
  emitEvent('console', { tabId, level, text, ...where }, weight);
}

/** A page that logs in a loop must not push everything else out of the hub's memory. */
function mayTell(log: Log): boolean {
  const second = Math.floor(Date.now() / 1000);
  if (log.second !== second) {
    log.second = second;
    log.told = 0;
  }
  log.told++;
  return log.told <= TOLD_PER_SECOND;
}

function isKnown({ entries }: Log, { timestamp, text }: LogEntry): boolean {
  return entries.some((known) => known.timestamp === timestamp && known.text === text);
}

function logOf(tabId: number): Log {
  const known = logs.get(tabId);
  if (known !== undefined) return known;
  const log: Log = { entries: [], clearedAt: 0, isLive: false, second: 0, told: 0 };
  logs.set(tabId, log);
  return log;
}

/** Reads an event that is a message; nothing for any other. */
export function readEvent(method: string, params: Fields): LogEntry | undefined {
  switch (method) {
    case 'Runtime.consoleAPICalled':
      return readCall(params);
    case 'Runtime.exceptionThrown':
      return readException(params);
    case 'Log.entryAdded':
      return readLogEntry(fieldsOf(params.entry));
    default:
      return undefined;
  }
}

function readCall(params: Fields): LogEntry {
  const frame = fieldsOf(listIn(fieldsOf(params.stackTrace), 'callFrames')[0]);
  const text = listIn(params, 'args')
    .map((argument) => showObject(fieldsOf(argument)))
    .join(' ');
  return entryOf(levelOf(textIn(params, 'type')), text, params, frame);
}

function readException(params: Fields): LogEntry {
  const details = fieldsOf(params.exceptionDetails);
  return { ...entryOf('error', describeException(details), params, details), uncaught: true };
}

function readLogEntry(entry: Fields): LogEntry {
  const text = textIn(entry, 'text') ?? '';
  return entryOf(levelOf(textIn(entry, 'level')), text, entry, entry);
}

/** Writes an exception: its own text and where it came from. */
export function describeException(details: Fields): string {
  const exception = fieldsOf(details.exception);
  const text = textIn(details, 'text') ?? 'Uncaught';
  const description = textIn(exception, 'description');
  // An error says all by itself; anything else that was thrown needs the word.
  if (textIn(exception, 'subtype') === 'error' && description !== undefined) return description;
  return `${text} ${description ?? showObject(exception)}`.trim();
}

function entryOf(level: Level, text: string, params: Fields, place: Fields): LogEntry {
  const url = textIn(place, 'url');
  const line = numberIn(place, 'lineNumber');
  return {
    level,
    text: text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text,
    ...(url === undefined || url === '' ? {} : { url }),
    ...(line === undefined || line < 0 ? {} : { line: line + 1 }),
    timestamp: numberIn(params, 'timestamp') ?? Date.now(),
  };
}

function levelOf(type: string | undefined): Level {
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
function showObject(object: Fields): string {
  const { value } = object;
  if (typeof value === 'string') return value;
  if (value !== undefined) return JSON.stringify(value);
  const special = textIn(object, 'unserializableValue');
  if (special !== undefined) return special;
  const preview = fieldsOf(object.preview);
  const properties = listIn(preview, 'properties').map(fieldsOf);
  const description = textIn(object, 'description') ?? textIn(object, 'type') ?? '';
  if (properties.length === 0 || textIn(object, 'subtype') === 'error') return description;
  const inner = properties.map((field) => `${textIn(field, 'name')}: ${textIn(field, 'value')}`);
  return `${description} {${inner.join(', ')}}`;
}
