/**
 * What popup and options page show of tabs and clients: titles, sites, and what can be done with the
 * tab that the user looks at.
 */

import { whyRestricted } from '../driver/common/restricted-pages';
import type { PanelClient, PanelFront, PanelReceiver, PanelTab } from '../panel';
import type { Settings } from '../settings';
import { type AddressRules, refusalOf } from '../sites';
import { refusalOfApp } from '../web-apps';
import { type ClientName, titleFor } from './client-titles';
import type { Groups } from './groups';

/** Tells who drives which tabs. */
export function describeClients(groups: Groups): Promise<PanelClient[]> {
  return Promise.all(
    groups.drivers.map(async ({ id, title, colour }) => {
      return { id, title, colour, tabs: await describeTabs(groups.tabsOf(id)) };
    }),
  );
}

/** Tells tabs as people know them; those that are gone are left out. */
export async function describeTabs(tabIds: readonly number[]): Promise<PanelTab[]> {
  const found = await Promise.all(
    tabIds.map(async (id) => {
      const tab = await chrome.tabs.get(id).catch(() => undefined);
      return tab === undefined ? [] : [{ id, title: tab.title ?? '', site: siteOf(tab.url) }];
    }),
  );
  return found.flat();
}

/** Tells whom a tab can be given to: who drives some already, and who else is known. */
export function receivers(groups: Groups, known: readonly ClientName[]): PanelReceiver[] {
  const all: PanelReceiver[] = groups.drivers.map(({ id, title }) => ({ id, title }));
  for (const { id, name } of known) {
    if (all.some((receiver) => receiver.id === id)) continue;
    const titles = all.map(({ title }) => title);
    all.push({ id, title: titleFor(name, titles) });
  }
  return all;
}

/** Tells what can be done with the tab in front; nothing where there is no such tab. */
export async function describeFront(
  groups: Groups,
  all: readonly PanelReceiver[],
  rules: Settings & AddressRules,
): Promise<PanelFront | undefined> {
  const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  if (tab?.id === undefined) return undefined;
  const { id: tabId, url = '' } = tab;
  const isUsable = whyRestricted(url) === undefined && refusalOf(url, rules) === undefined;
  const owner = groups.ownerOf(tabId);
  return {
    tabId,
    receivers: isUsable ? all.filter(({ id }) => id !== owner) : [],
    ...connectable(url, rules),
  };
}

function connectable(url: string, settings: Settings): Pick<PanelFront, 'connectable'> {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return {};
  const { origin } = new URL(url);
  const isOpen = refusalOfApp(origin, settings)?.word === 'not_allowed_yet';
  return isOpen ? { connectable: origin } : {};
}

function siteOf(url = ''): string {
  if (!URL.canParse(url)) return url;
  const { host, protocol } = new URL(url);
  if (host === '') return protocol;
  return protocol.startsWith('http') ? host : `${protocol}//${host}`;
}
