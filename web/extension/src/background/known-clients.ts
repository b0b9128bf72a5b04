/**
 * The clients that the user can give a tab to.
 *
 * A hub names all that are connected, with the event `clients`. Until one does, those that have
 * called are known. Kept for as long as the browser runs, since the hub says it only when it changes.
 */

import { isListOf, isRecord, isText } from '../check';
import { Kept } from '../storage';
import type { ClientName } from './client-titles';

/** More are no help to somebody who looks for one. */
const MOST_CLIENTS = 20;

interface Known {
  readonly clients: readonly ClientName[];
  /** Whether the hub has said who is there. */
  readonly isTold: boolean;
}

const kept = new Kept<Known>('session', 'clients', isKnown);

export class KnownClients {
  readonly #changed: () => void;
  #known: Known = { clients: [], isTold: false };

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  async load(): Promise<void> {
    this.#known = (await kept.load()) ?? this.#known;
  }

  get all(): readonly ClientName[] {
    return this.#known.clients;
  }

  /** Takes the hub's word for who is connected. */
  tell(data: unknown): void {
    const clients = isRecord(data) ? data.clients : undefined;
    if (isListOf(clients, isClientName)) this.#set(clients.map(plain), true);
  }

  /** Notes that a client has called. */
  note(client: ClientName): void {
    const { clients, isTold } = this.#known;
    if (isTold || clients.some(({ id, name }) => id === client.id && name === client.name)) return;
    this.#set([plain(client), ...clients.filter(({ id }) => id !== client.id)], false);
  }

  #set(clients: readonly ClientName[], isTold: boolean): void {
    this.#known = { clients: clients.slice(0, MOST_CLIENTS), isTold };
    kept.save(this.#known).catch((error) => console.debug('tabwire: not kept:', error));
    this.#changed();
  }
}

export function isClientName(value: unknown): value is ClientName {
  return isRecord(value) && isText(value.id) && isText(value.name);
}

function plain({ id, name }: ClientName): ClientName {
  return { id, name };
}

function isKnown(value: unknown): value is Known {
  return (
    isRecord(value) && isListOf(value.clients, isClientName) && typeof value.isTold === 'boolean'
  );
}
