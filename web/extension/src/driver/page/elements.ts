/**
 * Elements as commands name them: by reference, selector or text, in whichever frame they are.
 *
 * A reference belongs to one document and is never looked for elsewhere. Selectors and texts are
 * looked for at the top first, then in the other frames. An element's trouble becomes an error
 * that says what to try next.
 */

import { CommandError, type ErrorCode, invalid } from '../../command';
import type { Described, Locator, Problem } from '../../content/api';
import type { ActedOn } from '../../generated/command-results';
import { quoted } from '../../quoted';
import { pause } from '../common/time-limits';
import { documentOf, numberDocument, parseReference, printReference } from '../tab/documents';
import {
  ALL,
  type Answer,
  type AnswerOf,
  type ContentCall,
  DocumentGone,
  type DocumentPlace,
  inDocument,
  isProblem,
  type Method,
  TOP,
  type Where,
} from './content-calls';
import { coverOf, type FrameStep, hidingStep, offsetOf, type Point, stepsTo } from './frames';
import { EVERYWHERE, type Page } from './page';

export interface Target {
  readonly ref?: string | undefined;
  readonly selector?: string | undefined;
  readonly text?: string | undefined;
}

/** An element's answer and the document it came from. */
export interface FoundElement<T> extends DocumentPlace {
  readonly value: T;
  readonly where: Where;
  /** The document's number. */
  readonly document: number;
}

type Solved<T> = Exclude<T, Problem>;
type CallFor<M extends Method> = (locator: Locator) => Omit<ContentCall<M>, 'where'>;

const TRIES = 3;
const PLACE_TRIES = 12;
const FRAME_MS = 16;
// About half a second; a page can keep its moves from being seen, and is clicked all the same.
const MOVE_TRIES = 20;

/** Tells whether an element is named at all. */
export function isTargeted({ ref, selector, text }: Target): boolean {
  return ref !== undefined || selector !== undefined || text !== undefined;
}

/** Throws unless exactly one way of naming an element is used. */
export function checkTarget(target: Target, ways = 'ref or selector'): void {
  const given = [target.ref, target.selector, target.text].filter((way) => way !== undefined);
  if (given.length === 0) throw invalid(`say which element: give ${ways}`);
  if (given.length > 1) throw invalid(`give only one of ${ways}`);
}

/** Calls the content script for one element; throws when there is trouble with it. */
export async function onElement<M extends Method>(
  page: Page,
  target: Target,
  call: CallFor<M>,
): Promise<FoundElement<Solved<AnswerOf<M>>>> {
  if (target.ref !== undefined) return onReference(page, target.ref, call);
  for (let tries = 1; ; tries++) {
    try {
      return await onMatch(page, locatorOf(target), call);
    } catch (error) {
      if (!(error instanceof DocumentGone) || tries === TRIES) throw error;
    }
  }
}

/** An element brought into view, and where to act on it in the tab's viewport. */
export interface Aimed {
  readonly point: Point;
  /** Where changes are counted from now on. */
  readonly armed: Where;
  readonly element: ActedOn;
}

/**
 * Scrolls an element into view, starts counting changes unless they are being counted, and returns
 * a point that hits it.
 */
export async function aimAt(
  page: Page,
  target: Target,
  force: boolean,
  arms = true,
): Promise<Aimed> {
  const found = await onElement(page, target, (locator) => ({
    method: 'aim',
    args: [locator, { force }],
    ...(arms ? { arm: 'after' } : {}),
  }));
  const { x, y } = found.value;
  const element = reportElement(found, found.value.element);
  if (found.frameId === 0) return { point: { x, y }, armed: found.where, element };
  const { offset, steps } = await placeFrame(page, found.documentId, { x, y }, arms);
  if (!force) await checkUncovered(page, steps, { x, y }, element);
  const point = { x: x + offset.x, y: y + offset.y };
  await moveInto(page, found.where, { x, y }, point);
  return { point, armed: EVERYWHERE, element };
}

/**
 * Moves the mouse until the frame has seen it since `aim`: what is pressed before Chrome has drawn
 * the frame is pressed in the document around it.
 */
async function moveInto(page: Page, where: Where, inFrame: Point, inTab: Point): Promise<void> {
  for (let tries = 1; tries <= MOVE_TRIES; tries++) {
    await page.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...inTab });
    const [answer] = await page.call({
      where,
      method: 'isMouseAt',
      args: [inFrame.x, inFrame.y],
    });
    if (answer?.value !== false) return;
    await pause(page.limits, FRAME_MS);
  }
}

/** An element is hit only if nothing lies over the frames around it, either. */
async function checkUncovered(
  page: Page,
  steps: readonly FrameStep[],
  point: Point,
  element: ActedOn,
): Promise<void> {
  let { x, y } = point;
  for (const step of [...steps].reverse()) {
    x += step.x;
    y += step.y;
    const where: Where = { type: 'documents', documentIds: [step.documentId] };
    const [answer] = await page.run(where, coverOf, [step.index, x, y]);
    const cover = answer?.value;
    if (!cover) continue;
    // A parser takes nearly anything as the name of an element.
    const tag = /^[a-z][\w-]*$/.test(cover.tag) ? cover.tag : 'an element';
    const by = cover.words === '' ? tag : `${tag} ${quoted(cover.words)}`;
    throw error(
      'ELEMENT_COVERED',
      `${element.role} ${quoted(element.name)} (${element.ref}) is in a frame that is ` +
        `covered by ${by}; close or scroll that away, or use force`,
    );
  }
}

/** Returns a frame's place in the tab's viewport, with the point brought into view. */
export async function frameOffset(page: Page, documentId: string, point: Point): Promise<Point> {
  return (await placeFrame(page, documentId, point, true)).offset;
}

async function placeFrame(
  page: Page,
  documentId: string,
  point: Point,
  arms: boolean,
): Promise<{ offset: Point; steps: readonly FrameStep[] }> {
  let before: Point | undefined;
  for (let tries = 1; ; tries++) {
    const arm = arms ? { arm: 'before' as const } : {};
    const frames = await page.call({ where: ALL, method: 'geometry', args: [], ...arm });
    const steps = stepsTo(documentId, frames);
    if (steps === undefined) throw new DocumentGone('the frame is gone');
    const offset = offsetOf(steps);
    const hiding = hidingStep(steps, point);
    // Frames of other processes are scrolled into view a moment after they asked for it.
    const isStill = before !== undefined && before.x === offset.x && before.y === offset.y;
    if ((isStill && hiding === undefined) || tries === PLACE_TRIES) return { offset, steps };
    before = offset;
    if (isStill && hiding !== undefined) await reveal(page, hiding);
    else await pause(page.limits, FRAME_MS);
  }
}

async function reveal(page: Page, { documentId, ref }: FrameStep): Promise<void> {
  const where: Where = { type: 'documents', documentIds: [documentId] };
  await page.call({ where, method: 'aim', args: [{ by: 'ref', ref }, { force: true }] });
}

/** Writes an element for a report. */
export function reportElement(
  { document }: { readonly document: number },
  { ref, role, name, selector }: Described,
): ActedOn {
  const lasting = selector === undefined ? {} : { selector };
  return { ref: printReference({ document, element: ref }), role, name, ...lasting };
}

async function onReference<M extends Method>(
  page: Page,
  text: string,
  call: CallFor<M>,
): Promise<FoundElement<Solved<AnswerOf<M>>>> {
  const reference = parseReference(text);
  const document = await documentOf(page.tabId, reference.document);
  if (document === undefined) throw deadReference(text);
  const where = inDocument(document);
  try {
    const [answer] = await page.call({
      where,
      ...call({ by: 'ref', ref: reference.element }),
    });
    if (answer === undefined) throw deadReference(text);
    return solved(answer, where, document.n);
  } catch (error) {
    if (error instanceof DocumentGone) throw deadReference(text);
    throw error;
  }
}

async function onMatch<M extends Method>(
  page: Page,
  locator: Locator,
  call: CallFor<M>,
): Promise<FoundElement<Solved<AnswerOf<M>>>> {
  const [answer] = await page.call({ where: TOP, ...call(locator) });
  if (answer === undefined) throw notFound(locator);
  if (!isNotFound(answer.value)) return solvedWithNumber(page, answer);
  const elsewhere = await findInFrames(page, locator);
  if (elsewhere === undefined) throw notFound(locator);
  const [inFrame] = await page.call({ where: inDocument(elsewhere), ...call(locator) });
  if (inFrame === undefined) throw notFound(locator);
  return solvedWithNumber(page, inFrame);
}

async function solvedWithNumber<T>(
  page: Page,
  answer: Answer<T>,
): Promise<FoundElement<Solved<T>>> {
  const { documentId, frameId } = answer;
  return solved(answer, inDocument(answer), await numberDocument(page.tabId, documentId, frameId));
}

async function findInFrames(page: Page, locator: Locator): Promise<Answer<unknown> | undefined> {
  const answers = await page.call({ where: ALL, method: 'locate', args: [locator] });
  return answers.find(({ frameId, value }) => frameId !== 0 && !isProblem(value));
}

function solved<T>(answer: Answer<T>, where: Where, document: number): FoundElement<Solved<T>> {
  const { value, documentId, frameId } = answer;
  if (isProblem(value)) throw trouble(value, document);
  // What is no problem is the answer.
  return { value: value as Solved<T>, where, documentId, frameId, document };
}

function isNotFound(value: unknown): value is Problem {
  return isProblem(value) && value.problem === 'not_found';
}

function locatorOf({ selector, text }: Target): Locator {
  if (selector !== undefined) return { by: 'selector', selector };
  return { by: 'text', text: text ?? '' };
}

/** Makes an error of an element's trouble. */
export function trouble(problem: Problem, document: number): CommandError {
  const show = (element: Described) => describe(document, element);
  switch (problem.problem) {
    case 'dead_ref':
      return deadReference(printReference({ document, element: problem.ref }));
    case 'not_found':
      return notFound();
    case 'bad_selector':
      return error('INVALID_SELECTOR', `${problem.message}; give a CSS selector`);
    case 'hidden':
      return error(
        'ELEMENT_HIDDEN',
        `${show(problem.element)} cannot be seen; open what holds it, or take a new snapshot`,
      );
    case 'disabled':
      return error(
        'ELEMENT_DISABLED',
        `${show(problem.element)} is disabled; do first what the page wants`,
      );
    case 'covered':
      return error(
        'ELEMENT_COVERED',
        `${show(problem.element)} is covered by ${show(problem.by)}; ` +
          'close or scroll that away, or use force',
      );
    case 'wrong_kind':
      return error('WRONG_ELEMENT', `${show(problem.element)}: ${problem.message}`);
    default:
      return problem satisfies never;
  }
}

function describe(document: number, element: Described): string {
  const { role, name, tag, ref } = element;
  const what = name === '' ? role || tag : `${role || tag} ${quoted(name.slice(0, 80))}`;
  return ref === 0 ? what : `${what} (${printReference({ document, element: ref })})`;
}

function deadReference(text: string): CommandError {
  return error(
    'DEAD_REFERENCE',
    `${text} is gone: the page changed or was left since the snapshot; ` +
      'take a new one with browser_snapshot',
  );
}

function notFound(locator?: Locator): CommandError {
  const wanted = locator?.by === 'text' ? `has the text ${quoted(locator.text)}` : 'matches';
  const selector = locator?.by === 'selector' ? ` ${locator.selector}` : '';
  return error(
    'ELEMENT_NOT_FOUND',
    `no element ${wanted}${selector}; look with browser_snapshot, or wait for it with browser_navigate, action wait`,
  );
}

function error(code: ErrorCode, message: string): CommandError {
  return new CommandError(code, message);
}
