/**
 * Entry of the content script: puts `globalThis.tabwire` into the isolated world, once.
 *
 * Injected again it does nothing; a newer version takes over and keeps the references, for a
 * number means one node as long as the document lives.
 */

import type { ContentApi, Locator } from './api';
import { ChangeCounter } from './change-counter';
import { Covers } from './covers';
import { isProblem } from './describe';
import { Effects } from './effects';
import { Fields, labelled } from './fields';
import { FileParts } from './file-parts';
import { Forms } from './forms';
import { geometry } from './frames';
import { attributeOf, inView, marks, query } from './inspect';
import { Mouse } from './mouse';
import { contentOf } from './page-content';
import { PageTools } from './page-tools';
import { parsing } from './parsing';
import { WakePort } from './port';
import { Refs } from './refs';
import { scroll } from './scroll';
import { snapshot } from './snapshot';
import { Targets } from './target';
import { notePasswords } from './values';
import { waitFor } from './wait';

declare global {
  var tabwire: ContentApi | undefined;
  var tabwireRefs: Refs | undefined;
}

function create(version: string, refs: Refs): ContentApi {
  const effects = new Effects(refs);
  const changes = new ChangeCounter(effects);
  const targets = new Targets(refs, changes);
  const forms = new Forms(targets, effects);
  const parts = new FileParts();
  const pageTools = new PageTools(refs);
  const fields = new Fields(targets, effects);
  const port = new WakePort();
  const mouse = new Mouse();
  const covers = new Covers();
  return {
    version,
    parsing,
    snapshot: (options) => snapshot(refs, targets, effects, options),
    geometry: () => geometry(refs),
    locate: (locator) => targets.locate(locator),
    aim: (locator, options) => {
      mouse.expect();
      return targets.aim(locator, options);
    },
    comeBack: () => targets.comeBack(),
    box: (locator) => targets.box(locator),
    isMouseAt: (x, y) => mouse.isAt(x, y),
    focus: (locator, options) => forms.focus(locator, options),
    focusOn: (locator) => forms.focusOn(locator),
    checked: (locator) => forms.checked(locator),
    select: (locator, wanted) => forms.select(locator, wanted),
    fileInput: (locator, count) => forms.fileInput(locator, count),
    keepPart: (key, file, data) => parts.keep(key, file, data),
    setFiles: (locator, key, files) => forms.setFiles(locator, parts.take(key, files)),
    scroll: (locator, by, isLook) => scroll(targets, locator, by, isLook),
    submit: (locator) => forms.submit(locator),
    content: (options) => contentOf(targets, options),
    query: (by, most) => query(refs, by, most),
    attribute: (locator, name) => readAttribute(targets, locator, name),
    inView: (clip, options) => inView(refs, clip, options),
    marks: (clip) => marks(refs, clip),
    coverFrames: (shown) => covers.cover(shown),
    uncoverFrames: () => covers.uncover(),
    labelled: (labels) => labelled(refs, labels),
    planField: (locator, value) => fields.plan(locator, value),
    setField: (locator, value) => fields.set(locator, value),
    leaveField: (locator) => fields.leave(locator),
    fieldValue: (locator) => fields.value(locator),
    arm: () => {
      notePasswords();
      changes.arm();
    },
    untilQuiet: (options) => changes.untilQuiet(options),
    waitFor: (condition, timeoutMs) => waitFor(changes, condition, timeoutMs),
    listTools: () => pageTools.list(),
    callTool: (callId, name, input) => pageTools.call(callId, name, input),
    cancelTool: (callId) => pageTools.cancel(callId),
    keepAwake: () => port.keep(),
    retire: () => {
      changes.stop();
      mouse.stop();
      pageTools.retire();
      port.close();
      parts.drop();
      covers.uncover();
    },
  };
}

function readAttribute(targets: Targets, locator: Locator, name: string) {
  const element = targets.find(locator);
  if (isProblem(element)) return element;
  return { value: attributeOf(element, name), element: targets.describe(element) };
}

function install(): void {
  const { version } = chrome.runtime.getManifest();
  if (globalThis.tabwire?.version === version) return;
  globalThis.tabwire?.retire?.();
  globalThis.tabwireRefs ??= new Refs();
  globalThis.tabwire = create(version, globalThis.tabwireRefs);
  notePasswords();
}

install();
