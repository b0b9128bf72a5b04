/**
 * The status pill: whether a client can reach this page, and if not, why.
 *
 * Shows the session's name while connected, else the plain reason; a click shows the rest. It
 * does not connect anything.
 */

import type { Status } from '@tabwire/sdk';

/** Why there is no connection, short enough for the pill; the SDK has the whole sentence. */
const REASONS: Readonly<Record<string, string>> = {
  hub_not_running: 'no hub is running',
  local_network_refused: 'local network refused',
  origin_not_allowed: 'origin not allowed',
  page_policy: 'blocked by a policy',
  taken: 'opened elsewhere',
  limit_exceeded: 'hub is full',
  lost: 'connection lost',
  refused: 'hub refused',
};

const WORDS: Readonly<Record<Status['type'], string>> = {
  connecting: 'connecting',
  connected: 'connected',
  waiting: 'waiting',
  refused: 'not connected',
  closed: 'closed',
};

/** The parts of the page that the pill consists of. */
export interface PillParts {
  readonly pill: HTMLButtonElement;
  readonly label: HTMLElement;
  readonly details: HTMLElement;
}

export class Pill {
  readonly #parts: PillParts;
  readonly #instance: string | undefined;

  constructor(parts: PillParts, instance: string | undefined) {
    this.#parts = parts;
    this.#instance = instance;
    parts.pill.addEventListener('click', () => this.#open(parts.details.hidden === true));
  }

  /** Shows where the link stands. */
  show(status: Status): void {
    const { pill, label, details } = this.#parts;
    pill.dataset.status = status.type;
    label.textContent = shortWords(status);
    details.replaceChildren(...this.#lines(status).map(paragraph));
    if (status.type === 'refused') this.#open(true);
    if (status.type === 'connected') this.#open(false);
  }

  #open(isOpen: boolean): void {
    this.#parts.details.hidden = !isOpen;
    this.#parts.pill.ariaExpanded = String(isOpen);
  }

  #lines({ type, session, message, retryInMs }: Status): readonly string[] {
    const lines = [
      message ?? (type === 'connected' ? 'AI clients can see and change this page.' : ''),
    ];
    if (session !== undefined) lines.push(`Session: ${session}`);
    if (this.#instance !== undefined) lines.push(`Opened as: ${this.#instance}`);
    if (retryInMs !== undefined) lines.push(`Next attempt in ${Math.ceil(retryInMs / 1000)} s.`);
    return lines.filter((line) => line !== '');
  }
}

function shortWords({ type, session, reason }: Status): string {
  if (type === 'connected') return session ?? WORDS.connected;
  return REASONS[reason ?? ''] ?? WORDS[type];
}

function paragraph(text: string): HTMLElement {
  const element = document.createElement('p');
  element.textContent = text;
  return element;
}
