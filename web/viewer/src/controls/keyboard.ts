/**
 * Keys: arrows turn the model, with shift the key light and with alt the fill light; + and - move
 * the camera; R resets; Ctrl-Z and Ctrl-Shift-Z (or Ctrl-Y) undo and redo; 1 to 3 are the models.
 *
 * A key that is held down is one step of the history. Fields keep their keys.
 */

import type { Change } from '../state';
import type { Store } from '../store';
import { dragLight, dragModel, type Shift, sideOf, zoomBy } from './gestures';

const ARROW_PIXELS = 12;
const KEY_ZOOM = 1.06;

const ARROWS: Readonly<Record<string, Shift>> = {
  ArrowLeft: { x: -ARROW_PIXELS, y: 0 },
  ArrowRight: { x: ARROW_PIXELS, y: 0 },
  ArrowUp: { x: 0, y: -ARROW_PIXELS },
  ArrowDown: { x: 0, y: ARROW_PIXELS },
};

/** What keys do besides changing the state. */
export interface KeyActions {
  undo(): void;
  redo(): void;
  resetView(): void;
  resetAll(): void;
  showModel(number: number): void;
  toggleHelp(): void;
}

/** Listens to the whole page. */
export function attachKeyboard(store: Store, actions: KeyActions, onUse: () => void): void {
  let held = 0;
  window.addEventListener('keydown', (event) => {
    if (event.target instanceof HTMLInputElement) return;
    if (!event.repeat) held += 1;
    const change = changeOf(event, store);
    if (change !== undefined) store.change(change, 'hand', `key ${held}`);
    else if (!act(event, actions)) return;
    event.preventDefault();
    onUse();
  });
}

function changeOf(event: KeyboardEvent, store: Store): Change | undefined {
  if (event.ctrlKey || event.metaKey) return undefined;
  const { state } = store;
  const shift = ARROWS[event.key];
  if (shift !== undefined) {
    const light = event.altKey ? 'fill' : event.shiftKey ? 'key' : undefined;
    if (light === undefined) return dragModel(state, shift);
    return dragLight(state, light, shift, sideOf(state, light));
  }
  if (event.key === '+' || event.key === '=') return zoomBy(state, KEY_ZOOM);
  if (event.key === '-' || event.key === '_') return zoomBy(state, 1 / KEY_ZOOM);
  return undefined;
}

function act(event: KeyboardEvent, actions: KeyActions): boolean {
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) {
    if (key === 'z' && !event.shiftKey) actions.undo();
    else if (key === 'y' || key === 'z') actions.redo();
    else return false;
    return true;
  }
  if (event.altKey) return false;
  if (key === 'r' && event.shiftKey) actions.resetAll();
  else if (key === 'r') actions.resetView();
  else if (key === '?' || key === 'h') actions.toggleHelp();
  else if (['1', '2', '3'].includes(key)) actions.showModel(Number(key));
  else return false;
  return true;
}
