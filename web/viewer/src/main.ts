/**
 * The page: brings store, stage, controls and link together.
 *
 * Nothing is decided here. Changes go into the store; the store tells the stage to draw, the link
 * to push and the bar to follow.
 */

import { messageOf } from '@tabwire/shared';
import { attachDrop, attachPicker, type DropTarget } from './controls/drop';
import { attachKeyboard } from './controls/keyboard';
import { attachPointer } from './controls/pointer';
import { type LinkListener, openLink } from './link';
import { BUILTINS } from './models/builtin';
import { asBuiltinName, BUILTIN_NAMES, type BuiltinName } from './models/names';
import { Shelf } from './models/shelf';
import { readPageAddress } from './page-address';
import { codeIn, type PageKey, takePageKey } from './page-key';
import { Stage } from './scene/stage';
import { apply, INITIAL_STATE, type ViewerState } from './state';
import { Store } from './store';
import { fullReset, viewReset } from './tools/reset-view';
import type { LoadedModel, Room } from './tools/tool';
import { Bar } from './ui/bar';
import { element } from './ui/elements';
import { Pill } from './ui/pill';
import { Toasts } from './ui/toasts';

declare global {
  interface Window {
    /** For tests and the curious. */
    tabwireViewer?: {
      frames(): number;
      state(): ViewerState;
      /** Resolves when the first picture is there and nothing more is drawn by itself. */
      readonly ready: Promise<void>;
      /** Resolves when nothing more is drawn by itself. */
      settled(): Promise<void>;
    };
  }
}

// First of all: the code leaves the address bar at once.
const pageKey = takePageKey(window);
// A link that is pasted into this very tab changes the fragment only, which loads nothing.
addEventListener('hashchange', () => {
  if (codeIn(location.hash) !== undefined) location.reload();
});

const address = readPageAddress(location.search);
const shelf = new Shelf();
const builtin = asBuiltinName(address.model ?? '');
const store = new Store(
  builtin === undefined
    ? INITIAL_STATE
    : apply(INITIAL_STATE, { type: 'model', ...shelf.builtin(builtin) }),
);
const toasts = new Toasts(element('toasts', HTMLElement));
const scene = element('scene', HTMLElement);
const help = element('help', HTMLDialogElement);
let stage = openStage();
if (!document.hidden) performance.mark('tabwire-first-picture');
let framesBefore = 0;

const room: Room = {
  store,
  builtin: (name) => shelf.builtin(name),
  fetchModel: (url) => shelf.fetch(url),
  describeBuiltin: (name) => BUILTINS[name].description,
  picture: ({ width, height }) => {
    renewStage();
    if (stage === undefined) throw new Error('this browser has no WebGL, so there is no picture');
    return stage.picture(width ?? stage.size.width, height ?? stage.size.height);
  },
};

const actions = {
  undo: () => store.undo(1, 'hand'),
  redo: () => store.redo('hand'),
  resetView: () => store.change(viewReset(), 'hand'),
  resetAll: () => store.change(fullReset(room), 'hand'),
  toggleHelp: () => (help.open ? help.close() : help.showModal()),
  openFile: () => element('file', HTMLInputElement).click(),
};
const showBuiltin = (name: BuiltinName) => place(shelf.builtin(name));
const dropped: DropTarget = {
  file: (file) => load(shelf.read(file)),
  url: (url) => load(shelf.fetch(url)),
};

const bar = new Bar({ ...actions, showModel: showBuiltin });
bar.show(store.state, store.steps);
store.subscribe((state, origin) => {
  stage?.show(state, origin === 'client');
  bar.show(state, store.steps);
  shelf.keepOnly(store.sources);
});

attachPointer(scene, store, hideHint);
attachKeyboard(
  store,
  {
    ...actions,
    showModel: (number) => {
      const name = BUILTIN_NAMES[number - 1];
      if (name !== undefined) showBuiltin(name);
    },
  },
  hideHint,
);
attachDrop(dropped);
attachPicker(element('file', HTMLInputElement), dropped);
help.addEventListener('click', (event) => {
  // The backdrop belongs to the dialog; a click on it is one beside the box.
  if (event.target === help) help.close();
});

document.addEventListener('visibilitychange', () => {
  if (document.hidden) return;
  renewStage();
  stage?.wake();
});

const pill = new Pill(
  {
    pill: element('pill', HTMLButtonElement),
    label: element('pill-label', HTMLElement),
    details: element('pill-details', HTMLElement),
  },
  address.instanceId,
);
void pageKey.then(join);

if (address.model !== undefined && builtin === undefined) dropped.url(address.model);

window.tabwireViewer = {
  frames: () => framesBefore + (stage?.frames ?? 0),
  state: () => store.state,
  ready: stage?.settled() ?? Promise.resolve(),
  settled: () => stage?.settled() ?? Promise.resolve(),
};

function join(key: PageKey): void {
  const listener: LinkListener = {
    onStatus: (status) => {
      pill.show(status);
      document.title = `${status.session ?? address.name} · Tabwire viewer`;
    },
    onAct: (saying) => toasts.show(saying, 'client'),
  };
  try {
    openLink(room, address, listener, key);
  } catch (error) {
    // A hub that is none, or is not for this page to join. The page works without.
    pill.show({ type: 'refused', message: messageOf(error) });
  }
}

function openStage(): Stage | undefined {
  try {
    return new Stage(scene, shelf, store.state);
  } catch {
    element('no-picture', HTMLElement).hidden = false;
    return undefined;
  }
}

// A browser takes the canvases of pages in the background when there are many of them.
function renewStage(): void {
  if (stage?.isLost !== true) return;
  const drawn = framesBefore + stage.frames;
  stage.close();
  stage = openStage();
  framesBefore = drawn;
}

function place(model: LoadedModel): void {
  store.change({ type: 'model', ...model }, 'hand');
}

function load(loading: Promise<LoadedModel>): void {
  loading.then(
    (model) => {
      place(model);
      toasts.show({ words: `showing ${model.name}` }, 'page');
    },
    (error: unknown) => {
      toasts.show({ words: messageOf(error) }, 'error');
    },
  );
}

function hideHint(): void {
  element('hint', HTMLElement).dataset.gone = '';
}
