/**
 * The popup: how things stand, who drives what, and the button that ends it all.
 */

import type { PanelClient, PanelState, PanelTab, Wish } from '../panel';
import { byId, make, refill, sentence, setWords } from './dom';
import { showLink } from './link-view';
import { PanelPort } from './panel-port';

const port = new PanelPort(show);
const code = byId('code', HTMLInputElement);
let isStopped = false;
let wantsToPair = false;
let last: PanelState | undefined;

byId('stop', HTMLButtonElement).addEventListener('click', () => {
  port.wish({ type: isStopped ? 'resume' : 'stop' });
});
byId('retry', HTMLButtonElement).addEventListener('click', () => port.wish({ type: 'retry' }));
byId('pair-again', HTMLButtonElement).addEventListener('click', () => {
  wantsToPair = true;
  if (last !== undefined) showPairing(last);
  code.focus();
});
byId('pairing', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  port.wish({ type: 'pair', code: code.value });
});

function show(state: PanelState): void {
  last = state;
  showLink(state);
  byId('retry', HTMLElement).hidden = !['waiting', 'ended'].includes(state.link.type);
  byId('read-only', HTMLElement).hidden = !state.readOnly;
  showPairing(state);
  showAsking(state.asking);
  showClients(state.clients);
  showTaken(state.taken);
  showStop(state.stopped);
}

function showPairing({ link, paired, pairing }: PanelState): void {
  const isTrying = pairing.type === 'trying';
  const isApart = link.type !== 'connected' && link.type !== 'connecting';
  const isNeeded = isApart && (wantsToPair || paired === 'none' || pairing.type !== 'idle');
  byId('pairing', HTMLElement).hidden = !isNeeded;
  byId('pair-again', HTMLElement).hidden = isNeeded || !isApart;
  code.readOnly = isTrying;
  code.ariaInvalid = String(pairing.type === 'failed');
  const button = byId('pair', HTMLButtonElement);
  button.disabled = isTrying;
  button.textContent = isTrying ? 'Pairing…' : 'Pair';
  const error = pairing.type === 'failed' ? sentence(pairing.message) : '';
  setWords(byId('code-error', HTMLElement), error);
  if (isNeeded) return;
  code.value = '';
  if (link.type === 'connected') wantsToPair = false;
}

function showAsking(origins: readonly string[]): void {
  byId('asking', HTMLElement).hidden = origins.length === 0;
  refill(byId('asking-apps', HTMLElement), origins.map(askingRow));
}

function askingRow(origin: string): HTMLLIElement {
  const wishes = [
    ['Allow', { type: 'allow', origin }],
    ['Not now', { type: 'putOff', origin }],
  ] as const;
  const buttons = wishes.map(([label, wish]) => {
    const button = make('button', 'small', label);
    button.type = 'button';
    button.dataset.key = `${wish.type}-${origin}`;
    button.ariaLabel = `${label}: ${origin}`;
    button.addEventListener('click', () => port.wish(wish));
    return button;
  });
  const row = make('li');
  row.append(make('span', 'origin', origin), ...buttons);
  return row;
}

function showClients(clients: readonly PanelClient[]): void {
  const nothing = make('p', 'empty', 'No AI client drives a tab here.');
  refill(byId('clients', HTMLElement), clients.length === 0 ? [nothing] : clients.map(clientCard));
}

function clientCard({ title, colour, tabs }: PanelClient): HTMLElement {
  const card = make('article', 'client');
  card.dataset.colour = colour;
  const list = make('ul', 'tabs');
  list.append(...tabs.map((tab) => tabRow(tab, 'Take back', { type: 'take', tabId: tab.id })));
  card.append(make('h3', '', title), list);
  return card;
}

function showTaken(tabs: readonly PanelTab[]): void {
  byId('taken', HTMLElement).hidden = tabs.length === 0;
  const rows = tabs.map((tab) => tabRow(tab, 'Let AI use it', { type: 'give', tabId: tab.id }));
  refill(byId('taken-tabs', HTMLElement), rows);
}

function tabRow({ id, title, site }: PanelTab, label: string, wish: Wish): HTMLLIElement {
  const tab = make('button', 'tab');
  tab.title = `Go to ${title || site}`;
  tab.dataset.key = `show-${id}`;
  tab.append(make('span', '', title || site || 'New tab'), make('span', 'site', site));
  tab.addEventListener('click', () => port.wish({ type: 'show', tabId: id }));
  const button = make('button', 'small', label);
  button.dataset.key = `${wish.type}-${id}`;
  button.ariaLabel = `${label}: ${title || site}`;
  button.addEventListener('click', () => port.wish(wish));
  for (const each of [tab, button]) each.type = 'button';
  const row = make('li');
  row.append(tab, button);
  return row;
}

function showStop(stopped: boolean): void {
  isStopped = stopped;
  const button = byId('stop', HTMLButtonElement);
  button.textContent = stopped ? 'Resume' : 'Stop everything';
  button.classList.toggle('danger', !stopped);
  button.classList.toggle('primary', stopped);
  byId('stop-note', HTMLElement).hidden = !stopped;
}
