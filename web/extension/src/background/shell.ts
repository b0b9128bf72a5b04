/**
 * The worker as a whole: makes the parts and connects them.
 *
 * Everything that must be read before anything may happen is read in `startShell`; what listens
 * to the browser is in `main.ts`.
 */

import type { Call, CallContext, Event } from '@tabwire/shared';
import { isId, isRecord, isText } from '../check';
import { detachAll } from '../driver/debugger';
import { endAllEmulation, endEmulation } from '../driver/emulation';
import { judgeBy } from '../driver/judge';
import { driverReady } from '../driver/register';
import { endRules } from '../driver/tab-rules';
import { endAnyTrace, endTraceOf } from '../driver/tracing';
import { COMMAND_NAMES, discoverTools, execute } from '../execute';
import type { PanelState, PanelTab, Wish } from '../panel';
import { DEFAULT_SETTINGS, keptSettings, type Settings } from '../settings';
import { refusalOf } from '../sites';
import { shutStorage } from '../storage';
import { Badge } from './badge';
import { browserName, sessionName } from './browser-name';
import { Carriers } from './carriers';
import type { ClientName } from './client-titles';
import { Groups, takenBack } from './groups';
import { HubFinder, listens } from './hub-finder';
import { HubLink, ownInstanceId } from './hub-link';
import { askHost } from './native-host';
import { Downloads, type DrivenTab } from './page-events';
import { PageToolWatch } from './page-tool-watch';
import { loadKey } from './pairing';
import { Panels } from './panels';
import { holdPort, keepAlarm } from './revival';
import { RunningCalls } from './running-calls';
import { services } from './services';
import { StopSwitch } from './stop';
import { TabReporter } from './tabs';

/** Makes the worker ready; nothing is heard before. */
export async function startShell(): Promise<Shell> {
  await shutStorage();
  const [instanceId, settings] = await Promise.all([ownInstanceId(), keptSettings.load()]);
  const shell = new Shell(instanceId, settings ?? DEFAULT_SETTINGS);
  await shell.start();
  judgeBy({
    allows: (url) => shell.mayTell(url),
    drives: (tabId) => shell.groups.isDriven(tabId),
  });
  return shell;
}

export class Shell {
  readonly link: HubLink;
  readonly tabs: TabReporter;
  readonly groups: Groups;
  readonly downloads: Downloads;
  readonly pageTools: PageToolWatch;
  readonly panels: Panels;
  readonly carriers: Carriers;
  readonly #badge = new Badge();
  readonly #running = new RunningCalls();
  readonly #stop: StopSwitch;
  readonly #services: ReturnType<typeof services>;
  #settings: Settings;

  constructor(instanceId: string, settings: Settings) {
    this.#settings = settings;
    this.link = this.#newLink(instanceId);
    this.tabs = new TabReporter(this.link, (url) => this.mayTell(url));
    this.groups = this.#newGroups();
    this.#stop = this.#newStop();
    const emit: HubLink['emit'] = (name, data, level) => this.link.emit(name, data, level);
    this.downloads = new Downloads(
      emit,
      () => this.#drivenTabs(),
      (url) => this.mayTell(url),
    );
    this.#services = services({
      groups: this.groups,
      stop: this.#stop,
      downloads: this.downloads,
      settings: () => this.#settings,
      emit,
    });
    this.pageTools = new PageToolWatch({
      // After the user's Stop no page is entered, not even to look.
      isDriven: (tabId) => this.groups.isDriven(tabId) && !this.#stop.isStopped,
      discover: (tabId) => discoverTools(tabId, this.#services),
      tell: (tools, tabId) => this.link.setTools(tools, tabId),
    });
    this.carriers = new Carriers({
      instanceId,
      hub: () => this.link.hub,
      link: () => this.link.state,
      settings: () => this.#settings,
      isStopped: () => this.#stop.isStopped,
      changed: () => this.panels.update(),
    });
    this.panels = new Panels({
      state: () => this.#panelState(),
      fulfil: (wish) => this.#fulfil(wish),
    });
  }

  /** Reads what was kept, then connects. */
  async start(): Promise<void> {
    const [isNew] = await Promise.all([
      this.groups.load(),
      this.#stop.load(),
      this.downloads.load(),
      this.carriers.load(),
      keepAlarm(),
    ]);
    this.link.start();
    // Tabs have other numbers in each life of the browser: whose they were is void.
    if (isNew) this.link.emit('browserStarted', {});
    await this.tabs.tellAll();
    this.#tellTaken();
    this.#changed();
  }

  /** Tells all tabs that the user has taken: what was said of one may have been lost. */
  #tellTaken(): void {
    this.link.emit('tabsTaken', { tabIds: this.groups.taken });
  }

  /** Whether an address may be told to clients. */
  mayTell(url: string): boolean {
    return refusalOf(url, this.#settings) === undefined;
  }

  /** Takes over what the user has decided. */
  async settingsChanged(): Promise<void> {
    const before = this.#settings;
    this.#settings = (await keptSettings.load()) ?? DEFAULT_SETTINGS;
    const { label, port } = this.#settings;
    if (label !== before.label || port !== before.port) this.link.restart();
    await this.tabs.tellAll();
    this.#changed();
  }

  #newLink(instanceId: string): HubLink {
    const browser = browserName(Reflect.get(navigator, 'userAgentData'));
    const finder = new HubFinder({
      askHost: () => askHost(instanceId, browser),
      keptKey: loadKey,
      wantedPort: () => this.#settings.port,
      listens,
    });
    const nameByHost = () => (finder.answer?.type === 'hub' ? finder.answer.name : undefined);
    return new HubLink({
      instanceId,
      version: chrome.runtime.getManifest().version,
      commands: COMMAND_NAMES,
      finder,
      name: () => sessionName(browser, this.#settings.label, nameByHost()),
      onCall: (call, context) => this.#call(call, context),
      onEvent: (event) => this.#hear(event),
      onResync: () => {
        this.tabs.resync();
        this.#tellTaken();
      },
      changed: () => this.#changed(),
    });
  }

  #newGroups(): Groups {
    return new Groups({
      claimed: (tabId) => {
        holdPort(tabId);
        // Its page may have been ready before anybody drove it.
        this.pageTools.changed(tabId);
      },
      taken: (tabId) => {
        this.#running.endIn(tabId, takenBack(tabId));
        letGo(tabId);
        this.link.emit('tabTaken', { tabId });
      },
      given: (tabId) => this.link.emit('tabGiven', { tabId }),
      changed: () => this.#changed(),
    });
  }

  #newStop(): StopSwitch {
    return new StopSwitch({
      endAll: (reason) => this.#running.endAll(reason),
      detachAll: () => {
        endAllEmulation();
        endAnyTrace();
        return detachAll();
      },
      changed: () => this.#changed(),
    });
  }

  async #call(call: Call, { signal }: CallContext): Promise<unknown> {
    this.#stop.check();
    const tabId = 'tabId' in call ? call.tabId : undefined;
    if (tabId !== undefined && this.groups.taken.includes(tabId)) throw takenBack(tabId);
    return this.#running.run(tabId, signal, (inner) =>
      execute(call, { signal: inner }, this.#services),
    );
  }

  /** Hears the hub; who drives which tab is all it tells us. */
  #hear({ name, data }: Event): void {
    if (name !== 'tabOwner' || !isRecord(data) || !isId(data.tabId)) return;
    const { tabId, client } = data;
    if (!isClientName(client)) letGo(tabId);
    const shown = isClientName(client)
      ? this.groups.claim(tabId, client)
      : this.groups.release(tabId);
    shown.catch((error) => console.debug('tabwire: an owner is not shown:', error));
  }

  async #fulfil(wish: Wish): Promise<void> {
    switch (wish.type) {
      case 'stop':
        return this.#stop.stop();
      case 'resume':
        return this.#stop.resume();
      case 'retry':
        return this.link.retry();
      case 'pair':
        return this.link.pair(wish.code);
      case 'unpair':
        return this.link.unpair();
      case 'take':
        return this.groups.take(wish.tabId);
      case 'give':
        return this.groups.give(wish.tabId);
      case 'allow':
        return this.carriers.allow(wish.origin);
      case 'putOff':
        return this.carriers.putOff(wish.origin);
      case 'show':
        return showTab(wish.tabId);
      default:
        wish satisfies never;
    }
  }

  #changed(): void {
    const { state } = this.link;
    const standing = {
      connectedAs: state.type === 'connected' ? state.name : undefined,
      stopped: this.#stop.isStopped,
      drivenTabs: this.groups.drivenTabs.length,
    };
    this.#badge.show(standing).catch((error) => console.debug('tabwire: no badge:', error));
    this.carriers.update();
    this.panels.update();
  }

  async #panelState(): Promise<PanelState> {
    const clients = this.groups.drivers.map(async ({ id, title, colour }) => {
      return { id, title, colour, tabs: await describe(this.groups.tabsOf(id)) };
    });
    return {
      link: this.link.state,
      paired: await this.link.paired(async () => (await loadKey()) !== undefined),
      pairing: this.link.pairing,
      stopped: this.#stop.isStopped,
      readOnly: this.#settings.readOnly,
      clients: await Promise.all(clients),
      taken: await describe(this.groups.taken),
      asking: this.carriers.asking,
    };
  }

  async #drivenTabs(): Promise<DrivenTab[]> {
    const tabs = await chrome.tabs.query({});
    return tabs.flatMap(({ id = -1, url = '' }) => {
      const client = this.groups.ownerOf(id);
      return client !== undefined && this.mayTell(url) ? [{ id, url, client }] : [];
    });
  }
}

/** Ends what a client has left in force in a tab that is not its own any more. */
function letGo(tabId: number): void {
  // What an earlier worker left must be known before it can be ended.
  driverReady()
    .then(() => {
      endEmulation(tabId);
      endTraceOf(tabId);
      return endRules(tabId);
    })
    .catch((error) => console.debug('tabwire: rules are not ended:', error));
}

async function describe(tabIds: readonly number[]): Promise<PanelTab[]> {
  const found = await Promise.all(
    tabIds.map(async (id) => {
      const tab = await chrome.tabs.get(id).catch(() => undefined);
      return tab === undefined ? [] : [{ id, title: tab.title ?? '', site: siteOf(tab.url) }];
    }),
  );
  return found.flat();
}

function siteOf(url = ''): string {
  if (!URL.canParse(url)) return url;
  const { host, protocol } = new URL(url);
  if (host === '') return protocol;
  return protocol.startsWith('http') ? host : `${protocol}//${host}`;
}

async function showTab(tabId: number): Promise<void> {
  const { windowId } = await chrome.tabs
    .update(tabId, { active: true })
    .then((tab) => tab ?? chrome.tabs.get(tabId));
  await chrome.windows.update(windowId, { focused: true });
}

function isClientName(value: unknown): value is ClientName {
  return isRecord(value) && isText(value.id) && isText(value.name);
}
