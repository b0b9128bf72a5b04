/**
 * What commands need of the shell: tabs of their client, the user's limits, a way to the hub.
 */

import type { Level } from '@tabwire/shared';
import { CommandError } from '../command';
import type { DownloadLog, Services } from '../driver/common/services';
import type { Settings } from '../settings';
import { type AddressRules, refusalOf } from '../sites';
import type { ClientName } from './client-titles';
import type { Groups } from './groups';
import type { StopSwitch } from './stop';

export interface ServiceParts {
  readonly groups: Groups;
  readonly stop: StopSwitch;
  readonly downloads: DownloadLog;
  settings(): Settings;
  /** Where the hub is that we are, or were last, connected to. */
  hubPorts(): readonly number[];
  emit(name: string, data: unknown, level?: Level): void;
}

/** Makes the services of the shell. */
export function services(parts: ServiceParts): Services {
  const { groups, stop, downloads, settings, emit } = parts;
  return {
    claim: (tabId, client) => groups.claim(tabId, client),
    openTab: ({ url, active, client }) => openTab(groups, url, active, client),
    tabsOf: (clientId) => groups.tabsOf(clientId),
    checkSite: (url) => checkSite(url, { ...settings(), hubPorts: parts.hubPorts() }),
    limitsSites: () => settings().allowedSites.length > 0 || settings().deniedSites.length > 0,
    isReadOnly: () => settings().readOnly,
    isStopped: () => stop.isStopped,
    downloads,
    emit,
  };
}

function checkSite(url: string, rules: AddressRules): void {
  const refused = refusalOf(url, rules);
  if (refused === undefined) return;
  const { code, reason } = refused;
  const advice =
    code === 'RESTRICTED_PAGE'
      ? '; open another page with browser_navigate'
      : " (they decide it in Tabwire's options); use another site or ask them";
  throw new CommandError(code, `${reason}${advice}`);
}

async function openTab(
  groups: Groups,
  url: string,
  active: boolean,
  client: ClientName,
): Promise<chrome.tabs.Tab> {
  const windowId = await homeOf(groups, client);
  const tab =
    windowId === undefined
      ? await inNewWindow(url)
      : await chrome.tabs.create({ url, active, windowId });
  if (tab?.id === undefined) throw new CommandError('TAB_NOT_FOUND', 'the browser opened no tab');
  await groups.claim(tab.id, client);
  return chrome.tabs.get(tab.id);
}

/** Returns the window of the client's group, else the one that people used last. */
async function homeOf(groups: Groups, { id }: ClientName): Promise<number | undefined> {
  const own = groups.drivers.find((driver) => driver.id === id)?.groups ?? [];
  for (const groupId of own) {
    const group = await chrome.tabGroups.get(groupId).catch(() => undefined);
    if (group !== undefined) return group.windowId;
  }
  const windows = await chrome.windows.getAll({ windowTypes: ['normal'] });
  const last = await chrome.windows
    .getLastFocused({ windowTypes: ['normal'] })
    .catch(() => undefined);
  const plain = windows.filter(({ incognito }) => !incognito);
  return plain.find((window) => window.id === last?.id)?.id ?? plain[0]?.id;
}

async function inNewWindow(url: string): Promise<chrome.tabs.Tab | undefined> {
  const window = await chrome.windows.create({ url, focused: false });
  return window?.tabs?.[0];
}
