/**
 * Waiting, in hidden tabs too.
 *
 * A hidden tab has no frames and its timers fire once a second; messages still run at once there.
 */

import { visibilityState } from './dom';

/** Waits about so long. Short waits in a hidden tab are spun through messages. */
export function delay(ms: number): Promise<void> {
  if (isHidden() && ms <= 250) return spin(performance.now() + ms);
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits for the next frame, or 50 ms where none comes. */
export function frame(): Promise<void> {
  if (isHidden()) return delay(50);
  return Promise.race([
    new Promise<void>((resolve) => requestAnimationFrame(() => resolve())),
    delay(50),
  ]);
}

function isHidden(): boolean {
  return visibilityState(document) === 'hidden';
}

function spin(until: number): Promise<void> {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      if (performance.now() < until) {
        channel.port2.postMessage(null);
        return;
      }
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}
