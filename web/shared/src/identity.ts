/**
 * Who this peer is to the hub: its name and the newest resume token.
 *
 * Remembers both, with the position in the hub's log, where the owner gave it a memory. The
 * token is valid once, so the one of the last welcome replaces all before it.
 */

import type { Position } from './generated/protocol';
import { Keeper, type Memory, recall, type Snapshot } from './memory';
import { randomId } from './random-id';
import { isInstanceId } from './socket';

export class Identity {
  readonly #keeper: Keeper | undefined;
  readonly instanceId: string;
  /** Where the last life stopped in the hub's log. */
  readonly startPosition: Position | undefined;
  #resumeToken: string | undefined;

  /** Remembers who the peer was, or makes it somebody new. */
  static async load(
    memory: Memory | undefined,
    wantedId: string | undefined,
    onError: (error: unknown) => void,
  ): Promise<Identity> {
    const keeper = memory && new Keeper(memory, onError);
    const found = memory && (await recall(memory, onError));
    if (found !== undefined && isInstanceId(found.instanceId)) {
      // Token and position belong to the name they were given to.
      if (wantedId === undefined || wantedId === found.instanceId)
        return new Identity(keeper, found);
    }
    return new Identity(keeper, { instanceId: wantedId ?? randomId() });
  }

  private constructor(keeper: Keeper | undefined, snapshot: Snapshot) {
    this.#keeper = keeper;
    this.instanceId = snapshot.instanceId;
    this.#resumeToken = snapshot.resumeToken;
    this.startPosition = snapshot.position;
  }

  /** What `hello` presents. */
  get resumeToken(): string | undefined {
    return this.#resumeToken;
  }

  /** Takes the token of a welcome. */
  renew(resumeToken: string): void {
    this.#resumeToken = resumeToken;
  }

  /** Keeps who it is and how far it has seen the hub's log. */
  save(position: Position | undefined): void {
    void this.#keeper?.save({
      instanceId: this.instanceId,
      ...(this.#resumeToken !== undefined && { resumeToken: this.#resumeToken }),
      ...(position !== undefined && { position }),
    });
  }
}
