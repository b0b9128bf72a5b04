/**
 * What the tests of other people's clients need: a real hub, and an app on it that speaks through
 * our own client bundle. Both end with `stop`.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from '../../shared/dist/tabwire-client.js';

export const PAINT = {
  name: 'paint',
  description: 'Paints the model.',
  inputSchema: {
    type: 'object',
    properties: { color: { type: 'string' } },
    required: ['color'],
    additionalProperties: false,
  },
};
export const EXTRA = { name: 'polish', description: 'Polishes the model.' };
export const STATE = 'tabwire://session/viewer/state';

/** A hub with an app called `viewer`. */
export class Stage {
  static async start() {
    const binary = process.env.TABWIRE_BIN;
    assert.ok(binary, 'TABWIRE_BIN must be the path of a tabwire binary');
    const stage = new Stage();
    stage.binary = binary;
    stage.data = mkdtempSync(join(tmpdir(), 'tabwire-'));
    stage.process = spawn(
      binary,
      ['serve', '--port', '0', '--data', stage.data, '--log-level', 'warn'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [line] = await once(createInterface({ input: stage.process.stdout }), 'line');
    stage.port = JSON.parse(line).port;
    stage.url = `http://127.0.0.1:${stage.port}/mcp`;
    stage.token = readFileSync(join(stage.data, 'token'), 'utf8').trim();
    stage.headers = { Authorization: `Bearer ${stage.token}` };
    await stage.open();
    return stage;
  }

  /** Connects the app and waits until the hub lists its tool. */
  async open() {
    let color = 'red';
    this.app = connect({
      url: `ws://127.0.0.1:${this.port}`,
      kind: 'app',
      name: 'viewer',
      token: this.token,
      onCall: (call) => {
        color = call.args.color;
        this.app.pushState({ color });
        return { painted: color };
      },
      onState: () => ({ color }),
    });
    this.app.setTools([PAINT]);
    this.app.pushState({ color });
    await eventually(async () => {
      const address = `http://127.0.0.1:${this.port}/api/sessions/viewer`;
      const answer = await fetch(address, { headers: this.headers });
      const session = await answer.json();
      return session.tools?.length === 1 && session.stateVersion !== null;
    });
  }

  async stop() {
    this.app.close();
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await ended;
    rmSync(this.data, { recursive: true, force: true });
  }
}

/** Waits until something is true; fails after 30 s. */
export async function eventually(done) {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    if (await done()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail('waited 30 s in vain');
}
