/**
 * A real hub process on a port of its own, and its admin API.
 *
 * The binary is named by `TABWIRE_BIN`; its data goes to a folder that is deleted afterwards.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isRecord } from '../../src/values';

/** An entry of a session's feed. */
export interface FeedEntry {
  readonly kind: string;
  readonly name: string;
  readonly body: unknown;
}

export class RealHub {
  readonly port: number;
  /** What programs show it. */
  readonly token: string;
  readonly #process: ChildProcess;
  readonly #data: string;

  private constructor(process: ChildProcess, data: string, port: number) {
    this.#process = process;
    this.#data = data;
    this.port = port;
    this.token = readFileSync(join(data, 'token'), 'utf8').trim();
  }

  static async start(): Promise<RealHub> {
    const binary = process.env.TABWIRE_BIN;
    assert.ok(binary, 'TABWIRE_BIN must be the path of a tabwire binary');
    const data = mkdtempSync(join(tmpdir(), 'tabwire-'));
    const child = spawn(binary, ['serve', '--port', '0'], {
      env: environment(data),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const told: unknown = JSON.parse(line);
      if (isRecord(told) && told.event === 'listening') {
        return new RealHub(child, data, Number(told.port));
      }
    }
    assert.fail('the hub ended before it listened');
  }

  /** Runs a command of the same program for this hub's data, to its end. */
  run(args: readonly string[], input: Uint8Array = new Uint8Array()): Buffer {
    const binary = process.env.TABWIRE_BIN ?? assert.fail();
    const done = spawnSync(binary, args, { env: environment(this.#data), input });
    assert.equal(done.status, 0, done.stderr.toString());
    return done.stdout;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGTERM');
      await ended;
    }
    rmSync(this.#data, { recursive: true, force: true });
  }

  /** Asks the admin API. */
  async get(path: string): Promise<Record<string, unknown>> {
    return this.#ask(path, {});
  }

  /** Tells the admin API something. */
  async post(path: string, body: unknown): Promise<Record<string, unknown>> {
    const headers = { 'Content-Type': 'application/json' };
    return this.#ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** Reads all of a session's feed after a cursor; nothing may be missing from it. */
  async feed(session: string, since: number): Promise<{ entries: FeedEntry[]; next: number }> {
    const entries: FeedEntry[] = [];
    for (let next = since; ; ) {
      const page = await this.get(`/api/sessions/${session}/feed?since=${next}&limit=1000`);
      assert.ok(Array.isArray(page.items));
      assert.equal(page.missed ?? 0, 0, 'the feed was read too seldom');
      if (page.items.length === 0) return { entries, next };
      entries.push(...(page.items as FeedEntry[]));
      next = Number(page.next);
    }
  }

  async #ask(path: string, init: RequestInit): Promise<Record<string, unknown>> {
    const headers = { ...init.headers, Authorization: `Bearer ${this.token}` };
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, { ...init, headers });
    const answer: unknown = await response.json();
    assert.ok(response.ok && isRecord(answer), `${path}: ${JSON.stringify(answer)}`);
    return answer;
  }
}

/** The hub gets none of the settings of whoever runs the tests, except how much it logs. */
function environment(data: string): NodeJS.ProcessEnv {
  const foreign = Object.entries(process.env).filter(([name]) => !name.startsWith('TABWIRE_'));
  const level = process.env.TABWIRE_LOG_LEVEL ?? 'warn';
  return { ...Object.fromEntries(foreign), TABWIRE_DATA: data, TABWIRE_LOG_LEVEL: level };
}
