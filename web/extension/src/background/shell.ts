/**
 * The worker as a whole: makes the parts and connects them.
 *
 * Everything that must be read before anything may happen is read in `startShell`; what listens
 * to the browser is in `main.ts`.
 */

import type { Call, CallContext, Event } from '@tabwire/shared';
import { isId, isRecord, isText } from '../check';
import { providePermissions } from '../driver/common/permissions';
import { ignore } from '../driver/common/time-limits';
import { driverReady } from '../driver/register';
import { detachAll } from '../driver/tab/debugger';
import { endLifetime } from '../driver/tab/tab-state';
import { COMMAND_NAMES, discoverTools, execute } from '../execute';
import type { PanelState, Wish } from '../panel';
import { DEFAULT_SETTINGS, keptSettings, type Settings, showsOtherTabs } from '../settings';
import { type AddressRules, refusalOf } from '../sites';
import { shutStorage } from '../storage';
import { allowedOrigins } from '../web-apps';
import { Badge } from './badge';
import { browserName, sessionName } from './browser-name';
import { CarrierScripts } from './carrier-scripts';
import { Carriers } from './carriers';
import { nameOf } from './group-state';
import { Groups, takenBack } from './groups';
import { HubFinder, listens } from './hub-finder';
import { HubLink, ownInstanceId } from './hub-link';
import { isClientName, KnownClients } from './known-clients';
import { askHost, type HostAnswer } from './native-host';
import { Downloads, type DrivenTab } from './page-events';
import { PageToolWatch } from './page-tool-watch';
import { loadKey } from './pairing';
import { describeClients, describeFront, describeTabs, receivers } from './panel-view';
import { Panels } from './panels';
import { holdPort, keepAlarm } from './revival';
import { RunningCalls } from './running-calls';
import { services } from './services';
import { StopSwitch } from './stop';
import { TabAccess } from './tab-access';
import { TabReporter } from './tabs';
import { WaitingApps } from './waiting-apps';

/** Makes the worker ready; nothing is heard before. */
export async function startShell(): Promise<Shell> {
  await shutStorage();
  const [instanceId, settings] = await Promise.all([ownInstanceId(), keptSettings.load()]);
  const shell = new Shell(instanceId, settings ?? DEFAULT_SETTINGS);
  await shell.start();
  providePermissions({
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
  readonly #scripts = new CarrierScripts();
  readonly #clients = new KnownClients(() => this.panels.update());
  readonly #waiting = new WaitingApps(() => this.panels.update());
  readonly #access: TabAccess;
  readonly #stop: StopSwitch;
  readonly #services: ReturnType<typeof services>;
  #settings: Settings;
  /** Whether Tabwire has started this browser; the native host knows. */
  #isLaunched = false;
  #portsJudgedBy = '';

  constructor(instanceId: string, settings: Settings) {
    this.#settings = settings;
    this.link = this.#newLink(instanceId);
    this.tabs = new TabReporter(this.link, {
      visibilityOf: (tabId) => this.#access.visibilityOf(tabId),
      mayTell: (url) => this.mayTell(url),
    });
    this.groups = this.#newGroups();
    this.#access = new TabAccess(this.groups, () => this.#showsOthers);
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
      hubPorts: () => this.link.ports,
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
      this.#clients.load(),
      this.#waiting.load(),
      keepAlarm(),
    ]);
    this.link.start();
    // Tabs have other numbers in each life of the browser: whose they were is void.
    if (isNew) this.link.emit('browserStarted', {});
    this.#keepScripts();
    this.#changed();
  }

  /** Tells all tabs that the user has taken: what was said of one may have been lost. */
  #tellTaken(): void {
    this.link.emit('tabsTaken', { tabIds: this.groups.taken });
  }

  /** Whether an address may be told to clients. */
  mayTell(url: string): boolean {
    return refusalOf(url, this.#rules) === undefined;
  }

  get #rules(): Settings & AddressRules {
    return { ...this.#settings, hubPorts: this.link.nextPorts };
  }

  get #showsOthers(): boolean {
    return showsOtherTabs(this.#settings, this.#isLaunched);
  }

  /** Takes over what the user has decided. */
  async settingsChanged(): Promise<void> {
    const before = this.#settings;
    this.#settings = (await keptSettings.load()) ?? DEFAULT_SETTINGS;
    const { label, port } = this.#settings;
    if (label !== before.label || port !== before.port) this.link.restart();
    if (this.tabs.isTelling) await this.tabs.tellAll();
    this.#keepScripts();
    this.#changed();
  }

  #keepScripts(): void {
    this.#scripts
      .keep(allowedOrigins(this.#settings))
      .catch((error) => console.error('tabwire: the carrier script:', error));
  }

  async #askHost(instanceId: string, browser: string): Promise<HostAnswer> {
    const answer = await askHost(instanceId, browser);
    // Once started by us, always: a host that does not answer for once changes nothing.
    this.#isLaunched ||= answer.type === 'hub' && answer.launched === true;
    return answer;
  }

  /** Tells the tabs, not before it is known where the hub is and whether this browser is ours. */
  async #tellTabs(): Promise<void> {
    const isFirst = !this.tabs.isTelling;
    await this.tabs.tellAll();
    if (isFirst) this.#tellTaken();
  }

  #newLink(instanceId: string): HubLink {
    const browser = browserName(Reflect.get(navigator, 'userAgentData'));
    const finder = new HubFinder({
      askHost: () => this.#askHost(instanceId, browser),
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
      found: () => this.#tellTabs(),
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
      claimed: async (tabId) => {
        holdPort(tabId);
        // Its page may have been ready before anybody drove it.
        this.pageTools.changed(tabId);
        await this.tabs.look(tabId);
      },
      taken: (tabId) => {
        this.#running.endIn(tabId, takenBack(tabId));
        letGo(tabId);
        this.link.emit('tabTaken', { tabId });
      },
      given: (tabId, client) => this.link.emit('tabGiven', { tabId, ...(client && { client }) }),
      changed: () => {
        ignore(this.tabs.review());
        this.#changed();
      },
    });
  }

  #newStop(): StopSwitch {
    return new StopSwitch({
      endAll: (reason) => this.#running.endAll(reason),
      detachAll,
      changed: () => this.#changed(),
    });
  }

  async #call(call: Call, { signal }: CallContext): Promise<unknown> {
    this.#stop.check();
    const tabId = 'tabId' in call ? call.tabId : undefined;
    if (tabId !== undefined) await this.#access.check(tabId);
    return this.#running.run(tabId, signal, (inner) =>
      execute(call, { signal: inner }, this.#services),
    );
  }

  /** Hears the hub: who drives which tab, which clients there are, which apps wait. */
  #hear({ name, data }: Event): void {
    if (name === 'clients') this.#clients.tell(data);
    if (name === 'appsWaiting') this.#waiting.tell(data);
    if (name !== 'tabOwner' || !isRecord(data) || !isId(data.tabId)) return;
    const { tabId, client } = data;
    if (!isClientName(client)) letGo(tabId);
    // Nobody but the user makes a tab a client's that the hub does not know.
    else if (this.#access.isHidden(tabId)) return;
    const shown = isClientName(client)
      ? this.groups.claim(tabId, client)
      : this.groups.release(tabId, isText(data.keptFor));
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
      case 'giveTo':
        return this.#giveTo(wish.tabId, wish.clientId);
      case 'allow':
        return this.carriers.allow(wish.origin);
      case 'answerApp':
        return this.#answerApp(wish.origin, wish.allowed);
      case 'show':
        return showTab(wish.tabId);
      default:
        wish satisfies never;
    }
  }

  async #giveTo(tabId: number, clientId: string): Promise<void> {
    const drivers = this.groups.drivers.map(nameOf);
    const client = [...drivers, ...this.#clients.all].find(({ id }) => id === clientId);
    if (client !== undefined) await this.groups.giveTo(tabId, client);
  }

  /** Tells the hub what the user has decided, once. */
  #answerApp(origin: string, allowed: boolean): void {
    if (this.#waiting.remove(origin)) this.link.emit('appAnswered', { origin, allowed });
  }

  #changed(): void {
    const { state } = this.link;
    const standing = {
      connectedAs: state.type === 'connected' ? state.name : undefined,
      stopped: this.#stop.isStopped,
      drivenTabs: this.groups.drivenTabs.length,
    };
    this.#badge.show(standing).catch((error) => console.debug('tabwire: no badge:', error));
    this.#judgeAnew();
    this.carriers.update();
    this.panels.update();
  }

  /** Tells tabs anew when it is known where the hub is: until then its pages may be anywhere. */
  #judgeAnew(): void {
    const ports = this.link.nextPorts.join();
    if (ports === this.#portsJudgedBy || !this.tabs.isTelling) return;
    this.#portsJudgedBy = ports;
    ignore(this.tabs.tellAll());
  }

  async #panelState(): Promise<PanelState> {
    const all = receivers(this.groups, this.#clients.all);
    const front = await describeFront(this.groups, all, this.#rules);
    return {
      link: this.link.state,
      paired: await this.link.paired(async () => (await loadKey()) !== undefined),
      pairing: this.link.pairing,
      stopped: this.#stop.isStopped,
      readOnly: this.#settings.readOnly,
      clients: await describeClients(this.groups),
      taken: await describeTabs(this.groups.taken),
      otherTabs: this.#showsOthers,
      receivers: all,
      waitingApps: this.#waiting.origins,
      ...(front && { front }),
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
    .then(() => endLifetime(tabId, { type: 'released' }))
    .catch((error) => console.debug('tabwire: what is in force is not ended:', error));
}

async function showTab(tabId: number): Promise<void> {
  const { windowId } = await chrome.tabs
    .update(tabId, { active: true })
    .then((tab) => tab ?? chrome.tabs.get(tabId));
  await chrome.windows.update(windowId, { focused: true });
}
