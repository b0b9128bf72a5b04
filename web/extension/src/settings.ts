/**
 * What the user has decided on the options page.
 *
 * The page writes, the worker reads and hears of changes by `chrome.storage.onChanged`.
 */

import { isListOf, isPort, isRecord, isText } from './check';
import { Kept } from './storage';

export interface Settings {
  /** The hub's port; none: it is looked for. */
  readonly port?: number;
  /** What the user calls this browser profile; may be empty. */
  readonly label: string;
  /** If there are any, only these sites may be used. */
  readonly allowedSites: readonly string[];
  /** These sites may never be used. */
  readonly deniedSites: readonly string[];
  /** Whether clients may look but not act. */
  readonly readOnly: boolean;
  /** Whether clients may see tabs that are not theirs; absent: if Tabwire has started the browser. */
  readonly otherTabs?: boolean;
  /** Origins of web apps that may connect to the hub through this browser; absent is none. */
  readonly webApps?: readonly string[];
}

export const DEFAULT_SETTINGS: Settings = {
  label: '',
  allowedSites: [],
  deniedSites: [],
  readOnly: false,
};

/** Whether clients may see tabs that are not theirs: a browser that we started is for them. */
export function showsOtherTabs({ otherTabs }: Settings, isLaunched: boolean): boolean {
  return otherTabs ?? isLaunched;
}

export const LONGEST_LABEL = 40;

export const keptSettings = new Kept<Settings>('local', 'settings', isSettings);

function isSettings(value: unknown): value is Settings {
  return (
    isRecord(value) &&
    (value.port === undefined || isPort(value.port)) &&
    isText(value.label) &&
    isListOf(value.allowedSites, isText) &&
    isListOf(value.deniedSites, isText) &&
    typeof value.readOnly === 'boolean' &&
    (value.otherTabs === undefined || typeof value.otherTabs === 'boolean') &&
    (value.webApps === undefined || isListOf(value.webApps, isText))
  );
}
