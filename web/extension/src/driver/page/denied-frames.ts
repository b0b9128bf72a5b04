/**
 * Frames that clients may not use, of sites that the user denies or of the hub's own: which they
 * are, and pictures without them.
 *
 * A frame without an address of its own belongs to the site of the frame around it. For a picture
 * the top document covers each of its frames that holds a denied one at any depth, so that it does
 * not matter where a frame lies in it, how it is turned, or when its process draws. A picture during
 * which a denied frame came, or a cover was lifted, is thrown away and taken again.
 */

import { messageOf } from '../../check';
import { CommandError } from '../../command';
import type { Services } from '../common/services';
import { listen, type Signal } from '../tab/signals';
import { inDocument, TOP } from './content-calls';
import type { Page } from './page';

type Frame = chrome.webNavigation.GetAllFrameResultDetails;

/** The frames of a tab, and those that clients may not use with the reason. */
export interface JudgedFrames {
  readonly frames: readonly Frame[];
  readonly denied: ReadonlyMap<Frame, unknown>;
}

const PICTURE_TRIES = 3;
/** Addresses that name no site: what stands there is the word of whoever is around it. */
const SITELESS = /^(?:about|data|javascript):|^blob:null\//i;

/** Judges the frames of a tab; throws when its page itself is denied. */
export async function judgeFrames(tabId: number, services: Services): Promise<JudgedFrames> {
  const frames = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
  const denied = new Map<Frame, unknown>();
  for (const frame of frames) {
    try {
      await services.checkSite(siteAddress(frame, frames));
    } catch (error) {
      if (frame.frameId === 0) throw error;
      denied.set(frame, error);
    }
  }
  return { frames, denied };
}

/** Throws when a page has a denied frame, for what cannot be had without them. */
export async function refuseDeniedFrames(page: Page, why: string): Promise<void> {
  const { denied } = await judgeFrames(page.tabId, page.services);
  for (const reason of denied.values()) throw refusal(why, reason);
}

/** Makes the error of what would tell of a denied frame. */
export function refusal(why: string, reason: unknown): CommandError {
  return new CommandError('SITE_NOT_ALLOWED', `${why}: ${messageOf(reason)}`);
}

/** Takes a picture that shows no denied frame, and leaves the page as it was. */
export async function withoutDenied<T>(page: Page, take: () => Promise<T>): Promise<T> {
  let reason: unknown;
  for (let tries = 1; tries <= PICTURE_TRIES; tries++) {
    const attempt = await attemptWithout(page, take);
    if (attempt.type === 'taken') return attempt.picture;
    reason = attempt.reason;
  }
  throw refusal('no picture can be taken, because the page keeps showing a frame', reason);
}

type Attempt<T> =
  | { readonly type: 'taken'; readonly picture: T }
  | { readonly type: 'spoiled'; readonly reason: unknown };

async function attemptWithout<T>(page: Page, take: () => Promise<T>): Promise<Attempt<T>> {
  const commits: string[] = [];
  const note = (signal: Signal) => {
    if (signal.type === 'committed') commits.push(signal.url);
  };
  const stop = listen(page.tabId, note);
  try {
    const before = await judgeFrames(page.tabId, page.services);
    const [reason] = before.denied.values();
    const { picture, isHeld } =
      before.denied.size === 0
        ? { picture: await take(), isHeld: true }
        : await takeCovered(page, before, take);
    if (!isHeld) return { type: 'spoiled', reason };
    const spoiled = await newlyDenied(page, before, commits);
    return spoiled === undefined
      ? { type: 'taken', picture }
      : { type: 'spoiled', reason: spoiled };
  } finally {
    stop();
  }
}

async function takeCovered<T>(
  page: Page,
  judged: JudgedFrames,
  take: () => Promise<T>,
): Promise<{ picture: T; isHeld: boolean }> {
  const shown = await shownIndexes(page, judged);
  await page.call({ where: TOP, method: 'coverFrames', args: [shown] });
  try {
    const picture = await take();
    return { picture, isHeld: await uncover(page) };
  } catch (error) {
    await uncover(page);
    throw error;
  }
}

/** Returns whether the covers were there all the time; a page that was left had none. */
async function uncover(page: Page): Promise<boolean> {
  const uncovered = page.call({ where: TOP, method: 'uncoverFrames', args: [] });
  const [answer] = await uncovered.catch(() => []);
  return answer?.value === true;
}

/** Returns which windows of the top document hold nothing that is denied, as they say themselves. */
async function shownIndexes(page: Page, { frames, denied }: JudgedFrames): Promise<number[]> {
  const parents = new Map(frames.map(({ frameId, parentFrameId }) => [frameId, parentFrameId]));
  const holding = new Set<number>();
  for (const { frameId } of denied.keys()) {
    let current: number | undefined = frameId;
    while (current !== undefined && current > 0 && !holding.has(current)) {
      holding.add(current);
      current = parents.get(current);
    }
  }
  const shown = frames.filter(
    ({ frameId, parentFrameId }) => parentFrameId === 0 && !holding.has(frameId),
  );
  // One that was replaced or cannot be entered is covered with the others.
  const indexes = await Promise.all(shown.map((frame) => indexOf(page, frame).catch(() => -1)));
  return indexes.filter((index) => index >= 0);
}

async function indexOf(page: Page, frame: Frame): Promise<number> {
  const [answer] = await page.call({ where: inDocument(frame), method: 'geometry', args: [] });
  return answer?.value.path[0] ?? -1;
}

/** Returns why a frame that came since may not be seen, if there is one. */
async function newlyDenied(
  page: Page,
  before: JudgedFrames,
  commits: readonly string[],
): Promise<unknown> {
  const known = new Set([...before.denied.keys()].map(({ documentId }) => documentId));
  const after = await judgeFrames(page.tabId, page.services);
  for (const [{ documentId }, reason] of after.denied) if (!known.has(documentId)) return reason;
  for (const url of commits) {
    try {
      await page.services.checkSite(url);
    } catch (error) {
      return error;
    }
  }
  return undefined;
}

/** Returns a frame's address, or for one without (`about:srcdoc`) that of the frame around it. */
function siteAddress(frame: Frame, all: readonly Frame[]): string {
  let current: Frame | undefined = frame;
  while (current !== undefined && SITELESS.test(current.url)) {
    const { parentFrameId }: Frame = current;
    current = all.find(({ frameId }) => frameId === parentFrameId);
  }
  return (current ?? frame).url;
}
