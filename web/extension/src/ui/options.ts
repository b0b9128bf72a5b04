/**
 * The options page: what the user decides, kept as soon as it is said and right.
 *
 * A field that is wrong says so and is not kept; the others are.
 */

import { isPort } from '../check';
import type { PanelState } from '../panel';
import { DEFAULT_SETTINGS, keptSettings, LONGEST_LABEL, type Settings } from '../settings';
import { readSite } from '../sites';
import { readOrigin } from '../web-apps';
import { byId, make, refill, setWords } from './dom';
import { showLink } from './link-view';
import { PanelPort } from './panel-port';

const SAVED_SHOWN_MS = 2_000;

/** By what the hub knows this browser, and how that ends. */
const PAIRED: Readonly<Record<PanelState['paired'], string>> = {
  host: 'Paired by the program on this machine; `tabwire uninstall` ends that.',
  code: 'Paired by a code. To end it here, unpair; the hub keeps its side until you revoke it there.',
  none: 'Not paired. Open Tabwire’s button in the toolbar to enter a code.',
};

const port = new PanelPort(showHub);
const fields = {
  readOnly: byId('read-only', HTMLInputElement),
  otherTabs: byId('other-tabs', HTMLInputElement),
  allowedSites: byId('allowed-sites', HTMLTextAreaElement),
  deniedSites: byId('denied-sites', HTMLTextAreaElement),
  label: byId('label', HTMLInputElement),
  port: byId('port', HTMLInputElement),
  origin: byId('app-origin', HTMLInputElement),
};
let settings: Settings = DEFAULT_SETTINGS;
let savedTimer: ReturnType<typeof setTimeout> | undefined;

byId('version', HTMLElement).textContent = chrome.runtime.getManifest().version;
byId('unpair', HTMLElement).addEventListener('click', () => port.wish({ type: 'unpair' }));
fields.readOnly.addEventListener('change', () => keep({ readOnly: fields.readOnly.checked }));
fields.otherTabs.addEventListener('change', () => keep({ otherTabs: fields.otherTabs.checked }));
fields.label.addEventListener('change', () => {
  keep({ label: fields.label.value.trim().slice(0, LONGEST_LABEL) });
});
fields.port.addEventListener('change', keepPort);
fields.allowedSites.addEventListener('change', () => keepSites('allowedSites'));
fields.deniedSites.addEventListener('change', () => keepSites('deniedSites'));
byId('add-app', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  addApp();
});
// The popup allows apps too: what is saved here next must not forget them.
chrome.storage.onChanged.addListener((changes, area) => {
  if (area === 'local' && keptSettings.key in changes) void refresh();
});

void load();

async function refresh(): Promise<void> {
  settings = (await keptSettings.load()) ?? DEFAULT_SETTINGS;
  showApps();
}

async function load(): Promise<void> {
  await refresh();
  fields.readOnly.checked = settings.readOnly;
  fields.allowedSites.value = settings.allowedSites.join('\n');
  fields.deniedSites.value = settings.deniedSites.join('\n');
  fields.label.value = settings.label;
  fields.port.value = settings.port === undefined ? '' : String(settings.port);
}

function keepPort(): void {
  const text = fields.port.value.trim();
  const wanted = Number(text);
  if (text !== '' && !isPort(wanted)) {
    complain(fields.port, 'A port is a number from 1 to 65535.');
    return;
  }
  complain(fields.port, '');
  const { port: _before, ...others } = settings;
  replace(text === '' ? others : { ...others, port: wanted });
}

function keepSites(which: 'allowedSites' | 'deniedSites'): void {
  const field = fields[which];
  const lines = field.value.split(/[\n,]/).filter((line) => line.trim() !== '');
  const wrong = lines.find((line) => readSite(line) === undefined);
  if (wrong !== undefined) {
    complain(field, `“${wrong.trim()}” is not the name of a site, such as example.com.`);
    return;
  }
  complain(field, '');
  const sites = [...new Set(lines.map(readSite).filter((site) => site !== undefined))];
  field.value = sites.join('\n');
  keep({ [which]: sites });
}

function addApp(): void {
  const origin = readOrigin(fields.origin.value);
  if (origin === undefined) {
    complain(fields.origin, 'An app is known by its address, such as https://app.example.');
    return;
  }
  complain(fields.origin, '');
  fields.origin.value = '';
  keepApps([...new Set([...apps(), origin])]);
}

function apps(): readonly string[] {
  return settings.webApps ?? [];
}

function keepApps(webApps: readonly string[]): void {
  keep({ webApps });
  showApps();
}

function showApps(): void {
  refill(byId('web-apps', HTMLElement), apps().map(appRow));
}

function appRow(origin: string): HTMLLIElement {
  const button = make('button', 'small', 'Remove');
  button.type = 'button';
  button.dataset.key = origin;
  button.ariaLabel = `Remove ${origin}`;
  button.addEventListener('click', () => keepApps(apps().filter((app) => app !== origin)));
  const row = make('li');
  row.append(make('span', 'origin', origin), button);
  return row;
}

function complain(field: HTMLElement, message: string): void {
  field.ariaInvalid = String(message !== '');
  byId(`${field.id}-error`, HTMLElement).textContent = message;
}

function keep(part: Partial<Settings>): void {
  replace({ ...settings, ...part });
}

function replace(changed: Settings): void {
  settings = changed;
  void keptSettings.save(changed).then(showSaved);
}

function showSaved(): void {
  const saved = byId('saved', HTMLElement);
  saved.textContent = 'Saved';
  clearTimeout(savedTimer);
  savedTimer = setTimeout(() => {
    saved.textContent = '';
  }, SAVED_SHOWN_MS);
}

function showHub(state: PanelState): void {
  const { paired, otherTabs } = state;
  showLink(state);
  // What stands where the user has not decided, the worker knows.
  fields.otherTabs.checked = otherTabs;
  byId('unpair', HTMLElement).hidden = paired !== 'code';
  setWords(byId('paired', HTMLElement), PAIRED[paired]);
}
