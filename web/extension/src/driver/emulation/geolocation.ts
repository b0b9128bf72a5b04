/**
 * Lets a page have a place without asking the user.
 *
 * The debugger can say where a page is, but an extension cannot grant the permission, and a prompt
 * would wait for a person. So the page's own `navigator.geolocation` is answered in its world, at
 * the start of each document, for this tab only; no site gets the user's real place by it. Frames
 * of other sites that run in their own process are not reached.
 */

import { ignore } from '../common/time-limits';
import type { Session } from '../tab/debugger';
import type { Geolocation } from './emulation-state';

/** Has every new document of a tab answer with a place; returns the name to end it with. */
export async function answerInDocuments(
  send: Session['send'],
  place: Geolocation,
): Promise<string | undefined> {
  const source = `(${answerInPage})(${JSON.stringify(place)})`;
  return (await send('Page.addScriptToEvaluateOnNewDocument', { source })).identifier;
}

/** Ends what `answerInDocuments` began; one that is gone already is no trouble. */
export async function endInDocuments(send: Session['send'], identifier: string): Promise<void> {
  await send('Page.removeScriptToEvaluateOnNewDocument', { identifier }).catch(() => undefined);
}

/** Has the document that is there answer with a place, or as it did before. */
export function answerNow(
  tabId: number,
  place: Geolocation | undefined,
  allFrames: boolean,
): Promise<unknown> {
  return chrome.scripting.executeScript({
    target: { tabId, allFrames },
    world: 'MAIN',
    injectImmediately: true,
    func: answerInPage,
    args: [place ?? null],
  });
}

/** The same where nobody waits, as when a tab is given back. */
export function forgetNow(tabId: number): void {
  ignore(Promise.resolve().then(() => answerNow(tabId, undefined, true)));
}

// Serialised into the page's own world: may not close over this module.
function answerInPage(place: Geolocation | null): void {
  const key = Symbol.for('tabwire.geolocation');
  const { geolocation, permissions } = navigator;
  if (!geolocation) return;
  const change: unknown = Reflect.get(geolocation, key);
  if (typeof change === 'function') {
    change(place);
    return;
  }
  if (place === null) return;
  let current = place;
  let next = 1;
  const watchers = new Map<number, PositionCallback>();
  const position = (): GeolocationPosition => {
    const rest = { altitude: null, altitudeAccuracy: null, heading: null, speed: null };
    const coords = { ...current, ...rest };
    const timestamp = Date.now();
    return {
      coords: { ...coords, toJSON: () => coords },
      timestamp,
      toJSON: () => ({ coords, timestamp }),
    };
  };
  const tell = (callback: PositionCallback) => setTimeout(() => callback(position()), 0);
  const members = {
    getCurrentPosition: (callback: PositionCallback) => void tell(callback),
    watchPosition: (callback: PositionCallback) => {
      watchers.set(next, callback);
      tell(callback);
      return next++;
    },
    clearWatch: (id: number) => void watchers.delete(id),
  };
  const ask = permissions?.query.bind(permissions);
  const query = async (wanted: PermissionDescriptor) => {
    const status = await ask(wanted);
    if (wanted.name === 'geolocation') Object.defineProperty(status, 'state', { value: 'granted' });
    return status;
  };
  const put = (target: object, name: PropertyKey, value: unknown) =>
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  for (const [name, value] of Object.entries(members)) put(geolocation, name, value);
  if (permissions) put(permissions, 'query', query);
  put(geolocation, key, (wanted: Geolocation | null) => {
    if (wanted !== null) {
      current = wanted;
      watchers.forEach(tell);
      return;
    }
    // What the page's prototype says is in force again.
    for (const name of Object.keys(members)) Reflect.deleteProperty(geolocation, name);
    Reflect.deleteProperty(geolocation, key);
    if (permissions) Reflect.deleteProperty(permissions, 'query');
  });
}
