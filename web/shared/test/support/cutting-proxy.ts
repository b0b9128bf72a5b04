/**
 * A TCP proxy that a test can cut at any moment, mid-frame included.
 *
 * It rewrites the `Host` header of each connection's first bytes, because a hub answers only to
 * its own names. Apart from that it does not look at what passes.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket, connect as tcpConnect } from 'node:net';

export class CuttingProxy {
  /** How many connections were cut while they stood. */
  cuts = 0;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();

  private constructor(targetPort: number) {
    this.#server = createServer((client) => this.#join(client, targetPort));
  }

  static async start(targetPort: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    assert.ok(address !== null && typeof address === 'object');
    return address.port;
  }

  /** Ends all connections on both sides, without a word. */
  cut(): void {
    for (const pair of this.#pairs) {
      this.cuts++;
      for (const socket of pair) socket.resetAndDestroy();
    }
    this.#pairs.clear();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(client: Socket, targetPort: number): void {
    const hub = tcpConnect(targetPort, '127.0.0.1');
    const pair = [client, hub] as const;
    this.#pairs.add(pair);
    for (const socket of pair) {
      socket.setNoDelay(true);
      // Resets are what this is for.
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
    client.once('data', (head) => {
      const text = head.toString('latin1').replace(/^Host: .*$/im, `Host: 127.0.0.1:${targetPort}`);
      hub.write(text, 'latin1');
      client.pipe(hub);
    });
    hub.pipe(client);
  }
}
