/**
 * The popup: how things stand, who drives what, and the button that ends it all.
 */

import type { PanelClient, PanelFront, PanelState, PanelTab, Wish } from '../panel';
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
  showWaiting(state.waitingApps);
  showFront(state.front);
  showClients(state.clients);
  showTaken(state);
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

function showWaiting(origins: readonly string[]): void {
  byId('waiting', HTMLElement).hidden = origins.length === 0;
  refill(byId('waiting-apps', HTMLElement), origins.map(waitingRow));
}

function waitingRow(origin: string): HTMLLIElement {
  const answers = [
    ['Allow', true],
    ['Not now', false],
  ] as const;
  const buttons = answers.map(([label, allowed]) => {
    const button = wishButton(label, `${label}-${origin}`, { type: 'answerApp', origin, allowed });
    button.ariaLabel = `${label}: ${origin}`;
    return button;
  });
  const row = make('li');
  row.append(make('span', 'origin', origin), ...buttons);
  return row;
}

function showFront(front: PanelFront | undefined): void {
  const rows = front === undefined ? [] : [...connectRow(front), ...giveRows(front)];
  byId('front', HTMLElement).hidden = rows.length === 0;
  byId('connect-hint', HTMLElement).hidden = front?.connectable === undefined;
  refill(byId('front-wishes', HTMLElement), rows);
}

function connectRow({ connectable: origin }: PanelFront): HTMLLIElement[] {
  if (origin === undefined) return [];
  const row = make('li');
  row.append(
    make('span', 'origin', origin),
    wishButton('Let this page connect', `allow-${origin}`, { type: 'allow', origin }),
  );
  return [row];
}

function giveRows({ tabId, receivers }: PanelFront): HTMLLIElement[] {
  return receivers.map(({ id: clientId, title }) => {
    const wish = { type: 'giveTo', tabId, clientId } as const;
    const row = make('li');
    row.append(wishButton(`Give this tab to ${title}`, `give-${clientId}`, wish));
    return row;
  });
}

function wishButton(label: string, key: string, wish: Wish): HTMLButtonElement {
  const button = make('button', 'small', label);
  button.type = 'button';
  button.dataset.key = key;
  button.addEventListener('click', () => port.wish(wish));
  return button;
}

function showClients(clients: readonly PanelClient[]): void {
  const nothing = make('p', 'empty', 'No AI client drives a tab here.');
  refill(byId('clients', HTMLElement), clients.length === 0 ? [nothing] : clients.map(clientCard));
}

function clientCard({ title, colour, tabs }: PanelClient): HTMLElement {
  const card = make('article', 'client');
  card.dataset.colour = colour;
  const list = make('ul', 'tabs');
  list.append(...tabs.map((tab) => tabRow(tab, [['Take back', { type: 'take', tabId: tab.id }]])));
  card.append(make('h3', '', title), list);
  return card;
}

function showTaken({ taken, otherTabs, receivers }: PanelState): void {
  byId('taken', HTMLElement).hidden = taken.length === 0;
  const rows = taken.map((tab) => {
    const { id: tabId } = tab;
    const again = [['Let AI use it', { type: 'give', tabId }]] as const;
    const toOne = receivers.map(({ id: clientId, title }) => {
      return [`Give to ${title}`, { type: 'giveTo', tabId, clientId }] as const;
    });
    // A tab that is nobody's is seen by nobody, unless the user shows those.
    return tabRow(tab, otherTabs ? again : toOne);
  });
  refill(byId('taken-tabs', HTMLElement), rows);
}

function tabRow(
  { id, title, site }: PanelTab,
  wishes: ReadonlyArray<readonly [label: string, wish: Wish]>,
): HTMLLIElement {
  const tab = make('button', 'tab');
  tab.type = 'button';
  tab.title = `Go to ${title || site}`;
  tab.dataset.key = `show-${id}`;
  tab.append(make('span', '', title || site || 'New tab'), make('span', 'site', site));
  tab.addEventListener('click', () => port.wish({ type: 'show', tabId: id }));
  const row = make('li');
  row.append(tab);
  for (const [label, wish] of wishes) {
    const button = wishButton(label, `${label}-${id}`, wish);
    button.ariaLabel = `${label}: ${title || site}`;
    row.append(button);
  }
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
