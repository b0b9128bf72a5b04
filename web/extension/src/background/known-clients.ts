/**
 * The clients that the user can give a tab to.
 *
 * A hub names those that have called it and have not left, with the event `clients`. Kept for as
 * long as the browser runs, so that a new worker knows them before the hub is there again.
 */

import { isListOf, isRecord, isText } from '../check';
import { Kept } from '../storage';
import type { ClientName } from './client-titles';

/** More are no help to somebody who looks for one. */
const MOST_CLIENTS = 20;

const kept = new Kept<readonly ClientName[]>('session', 'clients', isClientNames);

export class KnownClients {
  readonly #changed: () => void;
  #clients: readonly ClientName[] = [];

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  async load(): Promise<void> {
    this.#clients = (await kept.load()) ?? this.#clients;
  }

  get all(): readonly ClientName[] {
    return this.#clients;
  }

  /** Takes the hub's word for who is there. */
  tell(data: unknown): void {
    const clients = isRecord(data) ? data.clients : undefined;
    if (!isClientNames(clients)) return;
    this.#clients = clients.slice(0, MOST_CLIENTS).map(({ id, name }) => ({ id, name }));
    kept.save(this.#clients).catch((error) => console.debug('tabwire: not kept:', error));
    this.#changed();
  }
}

export function isClientName(value: unknown): value is ClientName {
  return isRecord(value) && isText(value.id) && isText(value.name);
}

function isClientNames(value: unknown): value is readonly ClientName[] {
  return isListOf(value, isClientName);
}
