/**
 * Mouse, pen and fingers on the scene.
 *
 * One finger or the left button turns the model. Two fingers, the right button or shift move the
 * key light, with alt the fill light; a pinch or the wheel moves the camera, the wheel with shift
 * changes the lens. One drag is one step of the history.
 */

import type { LightName } from '../state';
import type { Store } from '../store';
import { dragLight, dragModel, narrowBy, type Shift, sideOf, zoomBy } from './gestures';

/** Turns of the wheel this close together are one step of the history. */
const WHEEL_PAUSE_MS = 400;

type Drag =
  | { readonly type: 'model' }
  | { readonly type: 'light'; readonly light: LightName; readonly side: 1 | -1 };

/** Listens on the scene; `onUse` hears that somebody has found out how. */
export function attachPointer(scene: HTMLElement, store: Store, onUse: () => void): void {
  const fingers = new Map<number, Shift>();
  let drag: Drag = { type: 'model' };
  let gestures = 0;
  let wheeledAt = 0;

  const begin = (event: PointerEvent) => {
    scene.setPointerCapture(event.pointerId);
    if (fingers.size === 0) gestures += 1;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    drag = dragOf(event, fingers.size, store);
    scene.dataset.dragging = drag.type;
  };

  const move = (event: PointerEvent) => {
    if (!fingers.has(event.pointerId)) return;
    const before = [...fingers.values()];
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const after = [...fingers.values()];
    const gesture = `drag ${gestures}`;
    const shift = difference(middle(after), middle(before));
    const change =
      drag.type === 'model'
        ? dragModel(store.state, shift)
        : dragLight(store.state, drag.light, shift, drag.side);
    store.change(change, 'hand', gesture);
    const pinch = spread(after) / spread(before);
    if (pinch !== 1) store.change(zoomBy(store.state, pinch), 'hand', gesture);
    onUse();
  };

  const end = (event: PointerEvent) => {
    fingers.delete(event.pointerId);
    // What is left of two fingers must not turn the model on its way up.
    if (fingers.size === 0) delete scene.dataset.dragging;
  };

  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    if (event.timeStamp - wheeledAt > WHEEL_PAUSE_MS) gestures += 1;
    wheeledAt = event.timeStamp;
    // With shift, some systems turn the wheel sideways. A pinch on a touchpad has small steps.
    const turn = event.deltaY === 0 ? event.deltaX : event.deltaY;
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? turn * 32 : turn;
    const factor = Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.001));
    const change = event.shiftKey ? narrowBy(store.state, factor) : zoomBy(store.state, factor);
    store.change(change, 'hand', `wheel ${gestures}`);
    onUse();
  };

  scene.addEventListener('pointerdown', begin);
  scene.addEventListener('pointermove', move);
  scene.addEventListener('pointerup', end);
  scene.addEventListener('pointercancel', end);
  scene.addEventListener('wheel', wheel, { passive: false });
  scene.addEventListener('contextmenu', (event) => event.preventDefault());
}

function dragOf(event: PointerEvent, fingers: number, store: Store): Drag {
  const isLight = fingers > 1 || event.button === 2 || event.shiftKey || event.altKey;
  if (!isLight) return { type: 'model' };
  const light = event.altKey ? 'fill' : 'key';
  return { type: 'light', light, side: sideOf(store.state, light) };
}

function middle(points: readonly Shift[]): Shift {
  const sum = points.reduce((total, { x, y }) => ({ x: total.x + x, y: total.y + y }));
  return { x: sum.x / points.length, y: sum.y / points.length };
}

function difference(one: Shift, other: Shift): Shift {
  return { x: one.x - other.x, y: one.y - other.y };
}

function spread([one, other]: readonly Shift[]): number {
  if (one === undefined || other === undefined) return 1;
  return Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
}
