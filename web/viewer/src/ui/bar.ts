/**
 * The bar: models, opening a file, undo, redo, reset, help.
 *
 * Everything in it can be done without it; it shows that it can be done.
 */

import { BUILTIN_NAMES, type BuiltinName } from '../models/names';
import type { ViewerState } from '../state';
import { element } from './elements';

/** What the buttons do. */
export interface BarActions {
  showModel(name: BuiltinName): void;
  openFile(): void;
  undo(): void;
  redo(): void;
  resetView(): void;
  toggleHelp(): void;
}

export class Bar {
  readonly #models = new Map<BuiltinName, HTMLButtonElement>();
  readonly #open = element('open', HTMLButtonElement);
  readonly #undo = element('undo', HTMLButtonElement);
  readonly #redo = element('redo', HTMLButtonElement);

  constructor(actions: BarActions) {
    const home = element('models', HTMLElement);
    for (const name of BUILTIN_NAMES) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = name;
      button.addEventListener('click', () => actions.showModel(name));
      this.#models.set(name, button);
      home.append(button);
    }
    this.#open.addEventListener('click', () => actions.openFile());
    this.#undo.addEventListener('click', () => actions.undo());
    this.#redo.addEventListener('click', () => actions.redo());
    element('reset', HTMLButtonElement).addEventListener('click', () => actions.resetView());
    element('help-button', HTMLButtonElement).addEventListener('click', () => actions.toggleHelp());
  }

  /** Shows which model it is and what can be undone. */
  show({ model }: ViewerState, steps: { readonly undo: number; readonly redo: number }): void {
    for (const [name, button] of this.#models) {
      button.ariaPressed = String(model.source === `builtin:${name}`);
    }
    this.#open.ariaPressed = String(!model.source.startsWith('builtin:'));
    this.#undo.disabled = steps.undo === 0;
    this.#redo.disabled = steps.redo === 0;
  }
}
