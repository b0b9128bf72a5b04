/**
 * Says in words where the connection to the hub stands; the same on both pages.
 */

import type { LinkState, PanelState } from '../panel';
import { byId, sentence, setWords } from './dom';

export function showLink({ link, stopped }: PanelState): void {
  const box = byId('link', HTMLElement);
  box.dataset.state = link.type;
  box.toggleAttribute('data-stopped', stopped);
  byId('link-title', HTMLElement).textContent = stopped ? 'Stopped by you' : titleOf(link);
  setWords(byId('link-detail', HTMLElement), detailOf(link));
}

function titleOf({ type }: LinkState): string {
  switch (type) {
    case 'connected':
      return 'Connected';
    case 'connecting':
      return 'Connecting…';
    case 'waiting':
      return 'Not connected';
    case 'unpaired':
      return 'Not paired';
    case 'ended':
      return 'Disconnected';
    default:
      return type satisfies never;
  }
}

function detailOf(link: LinkState): string {
  if (link.type === 'connected') return `As ${link.name}, at ${link.address}`;
  if (link.type === 'connecting') return 'Looking for a hub on this machine.';
  return sentence(link.reason);
}
