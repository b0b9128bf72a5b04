/**
 * Trusted mouse and keyboard input through the debugger.
 *
 * Events of one gesture are sent without waiting in between: the browser keeps their order, and a
 * mouse move that is waited for costs a frame. What is returned settles when the last was taken.
 * Points are CSS pixels of the tab's viewport.
 */

import type { ParamsOf, Protocol } from '../common/protocol';
import { deferred, ignore } from '../common/time-limits';
import type { Point } from '../page/frames';
import type { Session } from '../tab/debugger';
import { onDebuggerEvent } from '../tab/debugger-events';
import { type Key, keyForCharacter, type Modifier, modifierBits, type Stroke } from './keys';

export type Button = 'left' | 'middle' | 'right';

const BUTTON_BITS = { left: 1, right: 2, middle: 4 } as const;
// A drag that the page makes its own shows within the move that begins it.
const DRAG_STEPS = 5;
const INTERCEPT_WITHIN_MS = 100;

/** Moves the mouse. */
export function moveMouse(session: Session, point: Point): Promise<unknown> {
  return session.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...point });
}

/** Clicks; settles when the last release was taken, which a dialog prevents. */
export function clickMouse(
  session: Session,
  point: Point,
  how: { button: Button; clickCount: number; modifiers: readonly Modifier[] },
): Promise<unknown> {
  const { button } = how;
  const common = { ...point, modifiers: modifierBits(how.modifiers) };
  const sent = [session.send('Input.dispatchMouseEvent', { ...common, type: 'mouseMoved' })];
  for (let clickCount = 1; clickCount <= how.clickCount; clickCount++) {
    const press = { ...common, button, clickCount };
    const buttons = BUTTON_BITS[button];
    sent.push(
      session.send('Input.dispatchMouseEvent', { ...press, buttons, type: 'mousePressed' }),
      session.send('Input.dispatchMouseEvent', { ...press, buttons: 0, type: 'mouseReleased' }),
    );
  }
  return all(sent);
}

/** Presses and releases a key. */
export function pressKey(session: Session, { key, modifiers }: Stroke): Promise<unknown> {
  const bits = modifierBits(modifiers);
  // With Control, Alt or Meta a key writes nothing.
  const writes = (bits & ~8) === 0 ? key.text : undefined;
  const held = modifiers.map(modifierKey);
  const sent: Array<Promise<unknown>> = [];
  for (const [place, name] of held.entries()) {
    sent.push(sendKey(session, 'rawKeyDown', name, modifierBits(modifiers.slice(0, place + 1))));
  }
  const commands = editingCommands(key, modifiers);
  const extra = writes === undefined ? {} : { text: writes, unmodifiedText: writes };
  const down = writes === undefined ? 'rawKeyDown' : 'keyDown';
  sent.push(sendKey(session, down, key, bits, { ...extra, ...commands }));
  sent.push(sendKey(session, 'keyUp', key, bits));
  for (const [place, name] of [...held.entries()].reverse()) {
    sent.push(sendKey(session, 'keyUp', name, modifierBits(modifiers.slice(0, place))));
  }
  return all(sent);
}

/** Writes text where the caret is, as if pasted by an input method. */
export function insertText(session: Session, text: string): Promise<unknown> {
  return session.send('Input.insertText', { text });
}

/** Types one character with its key, or inserts it if no key writes it. */
export function typeCharacter(session: Session, character: string): Promise<unknown> {
  const stroke = keyForCharacter(character);
  return stroke === undefined ? insertText(session, character) : pressKey(session, stroke);
}

/** Drags from one point to another, also where the page uses HTML drag and drop. */
export async function dragMouse(session: Session, from: Point, to: Point): Promise<void> {
  const { promise: intercepted, resolve } = deferred<Protocol.Input.DragData | undefined>();
  const stop = onDebuggerEvent('Input.dragIntercepted', (tabId, { data }) => {
    if (tabId === session.tabId) resolve(data);
  });
  try {
    await session.send('Input.setInterceptDrags', { enabled: true });
    await press(session, from);
    const data = await Promise.race([intercepted, startDrag(session, from, to)]);
    if (data === undefined) await finishMouseDrag(session, from, to);
    else await finishHtmlDrag(session, to, data);
  } finally {
    stop();
    ignore(session.send('Input.setInterceptDrags', { enabled: false }));
  }
}

async function press(session: Session, point: Point): Promise<void> {
  const mouse = 'Input.dispatchMouseEvent' as const;
  const button = { button: 'left' as const, buttons: 1, clickCount: 1 };
  await all([
    session.send(mouse, { type: 'mouseMoved', ...point }),
    session.send(mouse, { type: 'mousePressed', ...point, ...button }),
  ]);
}

/** Moves a little, which makes an HTML drag begin; returns nothing when none did. */
async function startDrag(session: Session, from: Point, to: Point): Promise<undefined> {
  const towards = (start: number, end: number) => start + Math.sign(end - start) * 8;
  const near = { x: towards(from.x, to.x), y: towards(from.y, to.y) };
  await moveHeld(session, near);
  await moveHeld(session, between(from, to, 0.5));
  // The event may come just after the move that caused it was acknowledged. On a busy machine that
  // takes its time: what is on its way comes before the answer to the next question.
  await session.send('Page.getLayoutMetrics');
  await new Promise((resolve) => setTimeout(resolve, INTERCEPT_WITHIN_MS));
  return undefined;
}

async function finishMouseDrag(session: Session, from: Point, to: Point): Promise<void> {
  for (let step = 1; step <= DRAG_STEPS; step++) {
    await moveHeld(session, between(from, to, 0.5 + (0.5 * step) / DRAG_STEPS));
  }
  await release(session, to);
}

async function finishHtmlDrag(
  session: Session,
  to: Point,
  data: Protocol.Input.DragData,
): Promise<void> {
  for (const type of ['dragEnter', 'dragOver', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, ...to, data, modifiers: 0 });
  }
  await release(session, to);
}

function moveHeld(session: Session, point: Point): Promise<unknown> {
  const held = { button: 'left' as const, buttons: 1 };
  return session.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...point, ...held });
}

function release(session: Session, point: Point): Promise<unknown> {
  const button = { button: 'left' as const, buttons: 0, clickCount: 1 };
  return session.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...point, ...button });
}

function between(from: Point, to: Point, part: number): Point {
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

function sendKey(
  session: Session,
  type: 'keyDown' | 'keyUp' | 'rawKeyDown',
  { key, code, keyCode, location }: Key,
  modifiers: number,
  extra: Partial<ParamsOf<'Input.dispatchKeyEvent'>> = {},
): Promise<unknown> {
  return session.send('Input.dispatchKeyEvent', {
    type,
    key,
    code,
    modifiers,
    windowsVirtualKeyCode: keyCode,
    nativeVirtualKeyCode: keyCode,
    location: location ?? 0,
    ...extra,
  });
}

function modifierKey(modifier: Modifier): Key {
  switch (modifier) {
    case 'alt':
      return { key: 'Alt', code: 'AltLeft', keyCode: 18, location: 1 };
    case 'ctrl':
      return { key: 'Control', code: 'ControlLeft', keyCode: 17, location: 1 };
    case 'meta':
      return { key: 'Meta', code: 'MetaLeft', keyCode: 91, location: 1 };
    case 'shift':
      return { key: 'Shift', code: 'ShiftLeft', keyCode: 16, location: 1 };
    default:
      return modifier satisfies never;
  }
}

const MAC_COMMANDS: Readonly<Record<string, string>> = {
  a: 'selectAll',
  c: 'copy',
  v: 'paste',
  x: 'cut',
  z: 'undo',
};

// On a Mac shortcuts are the menu's, which these events do not reach: name the command.
function editingCommands(key: Key, modifiers: readonly Modifier[]) {
  const command = MAC_COMMANDS[key.key.toLowerCase()];
  if (command === undefined || !modifiers.includes('meta') || !isMac()) return {};
  return { commands: [command === 'undo' && modifiers.includes('shift') ? 'redo' : command] };
}

function isMac(): boolean {
  return /Mac/i.test(navigator.platform);
}

/** Waits for the last to be taken; the others must not count as unhandled. */
function all(sent: Array<Promise<unknown>>): Promise<unknown> {
  const done = Promise.all(sent);
  ignore(done);
  return done;
}
