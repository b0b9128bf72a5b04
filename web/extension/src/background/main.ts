/**
 * The worker's door: every listener to the browser, registered at once and in one place.
 *
 * The browser ends the worker when it likes and starts it to tell an event, so listeners must
 * stand when this file has run. Each waits for `ready`: a worker that was started by an event has
 * not yet read what it kept.
 */

import { CARRIER, isMayCarry } from '../carriage';
import { isRecord } from '../check';
import { registerDriver } from '../execute';
import { keptSettings } from '../settings';
import { CarriedPage, originOf } from './carried-page';
import { tellNavigation } from './page-events';
import { holdPort } from './revival';
import { type Shell, startShell } from './shell';

const ready = startShell();
ready.catch((error) => console.error('tabwire: the worker did not start:', error));
registerDriver(whenReady((shell, ...event) => shell.link.emit(...event)));

/** Makes a listener of what is to be done once the worker is ready. */
function whenReady<Arguments extends unknown[]>(
  work: (shell: Shell, ...args: Arguments) => void | Promise<void>,
): (...args: Arguments) => void {
  return (...args) => {
    ready
      .then((shell) => work(shell, ...args))
      .catch((error) => console.error('tabwire: in a listener:', error));
  };
}

// To be started is all they are for: whoever starts the worker connects it.
chrome.runtime.onInstalled.addListener(() => {});
chrome.runtime.onStartup.addListener(() => {});
chrome.alarms.onAlarm.addListener(whenReady((shell) => shell.link.wake()));
chrome.runtime.onConnect.addListener((port) => {
  // Listens at once: a page says what it wants before the worker is ready.
  const page = port.name === CARRIER ? new CarriedPage(port) : undefined;
  port.onDisconnect.addListener(() => void chrome.runtime.lastError);
  whenReady((shell) => (page ? shell.carriers.take(page) : shell.panels.open(port)))();
});

chrome.runtime.onMessage.addListener((message, sender, respond) => {
  if (isMayCarry(message)) {
    const answer = ready.then((shell) => shell.carriers.allows(originOf(sender)));
    answer.catch(() => false).then(respond);
    // The answer comes later.
    return true;
  }
  const { tab } = sender;
  const isNews = isRecord(message) && message.type === 'toolsChanged';
  whenReady((shell) => {
    if (isNews && tab?.id !== undefined) shell.pageTools.changed(tab.id);
  })();
  return false;
});

chrome.tabs.onCreated.addListener(whenReady((shell, tab) => shell.tabs.created(tab)));
chrome.tabs.onUpdated.addListener(
  whenReady(async (shell, tabId, change, tab) => {
    await shell.tabs.updated(tab);
    shell.panels.update();
    if (change.groupId !== undefined) await shell.groups.regrouped(tabId, change.groupId);
  }),
);
chrome.tabs.onRemoved.addListener(
  whenReady(async (shell, tabId) => {
    await shell.tabs.removed(tabId);
    await shell.groups.removed(tabId);
    shell.pageTools.removed(tabId);
  }),
);
chrome.tabs.onReplaced.addListener(
  whenReady(async (shell, added, removed) => {
    // Whose it is decides what is told of it.
    await shell.groups.replaced(added, removed);
    await shell.tabs.replaced(added, removed);
  }),
);
chrome.tabs.onActivated.addListener(
  whenReady(async (shell) => {
    await shell.tabs.refocus();
    shell.panels.update();
  }),
);
chrome.windows.onFocusChanged.addListener(whenReady((shell) => shell.tabs.refocus()));
chrome.tabGroups.onUpdated.addListener(
  whenReady((shell, group) => shell.groups.groupUpdated(group)),
);
chrome.tabGroups.onRemoved.addListener(
  whenReady((shell, group) => shell.groups.groupRemoved(group.id)),
);

chrome.webNavigation.onCommitted.addListener(
  whenReady((shell, { tabId, frameId, url, documentLifecycle }) => {
    if (frameId !== 0 || documentLifecycle === 'prerender') return;
    shell.pageTools.left(tabId);
    if (!shell.groups.isDriven(tabId)) return;
    if (!shell.mayTell(url)) return;
    tellNavigation((name, data) => shell.link.emit(name, data), tabId, url);
  }),
);
chrome.webNavigation.onDOMContentLoaded.addListener(
  whenReady((shell, { tabId, frameId }) => {
    if (frameId === 0 && shell.groups.isDriven(tabId)) holdPort(tabId);
    shell.pageTools.changed(tabId);
  }),
);
chrome.downloads.onCreated.addListener(whenReady((shell, item) => shell.downloads.created(item)));
chrome.downloads.onChanged.addListener(whenReady((shell, delta) => shell.downloads.changed(delta)));

chrome.storage.onChanged.addListener(
  whenReady(async (shell, changes, area) => {
    if (area === 'local' && keptSettings.key in changes) await shell.settingsChanged();
  }),
);
