/**
 * A headless Chromium with the built extension, on a profile that goes when it is closed.
 *
 * Offers one tab, the extension, and the sessions of all documents in the tab: frames of other sites
 * have their own. The extension is asked through its options page, in a tab behind the first, for its
 * worker comes and goes as it likes.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Devtools, type Target } from './devtools';
import { record, text } from './json';

const EXTENSION = resolve('extension/dist');
const PROGRAM = process.env.CHROMIUM ?? 'chromium';
const START_WITHIN_MS = 60_000;
const END_WITHIN_MS = 10_000;

const FLAGS = [
  '--headless=new',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-sync',
  '--hide-scrollbars',
  '--lang=en-US',
  '--mute-audio',
  '--no-first-run',
  '--remote-debugging-port=0',
  '--window-size=1280,900',
  `--load-extension=${EXTENSION}`,
];

export class Browser {
  readonly devtools: Devtools;
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #extension: string;
  readonly #tab: string;
  /** Sessions of frames of other sites, for as long as they live. */
  readonly #frames = new Set<string>();

  private constructor(
    devtools: Devtools,
    process: ChildProcess,
    profile: string,
    sessions: { readonly extension: string; readonly tab: string },
  ) {
    this.devtools = devtools;
    this.#process = process;
    this.#profile = profile;
    this.#extension = sessions.extension;
    this.#tab = sessions.tab;
  }

  /** Starts one, with further flags. */
  static async start(flags: readonly string[] = []): Promise<Browser> {
    if (!existsSync(join(EXTENSION, 'manifest.json'))) {
      throw new Error(`there is no extension in ${EXTENSION}; build it with \`npm run build\``);
    }
    const profile = mkdtempSync(join(tmpdir(), 'tabwire-agreement-'));
    const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const child = spawn(
      PROGRAM,
      [...FLAGS, ...flags, ...asRoot, `--user-data-dir=${profile}`, 'about:blank'],
      { stdio: 'ignore', env: { ...process.env, LC_ALL: 'C.UTF-8', LANGUAGE: 'en' } },
    );
    try {
      const devtools = await Devtools.connect(await findAddress(child, profile));
      const { id } = await devtools.find(({ type }) => type === 'page');
      const tab = await devtools.attach(id);
      const extension = await openExtension(devtools);
      const browser = new Browser(devtools, child, profile, { extension, tab });
      await browser.#prepare();
      return browser;
    } catch (error) {
      child.kill();
      await end(child, profile);
      throw error;
    }
  }

  /** Opens a page in the tab and waits until it and its frames have loaded. */
  async open(url: string): Promise<void> {
    const loaded = this.devtools.once(this.#tab, 'Page.loadEventFired');
    const { errorText } = await this.devtools.send(this.#tab, 'Page.navigate', { url });
    if (errorText !== undefined) throw new Error(`${url}: ${text(errorText)}`);
    await loaded;
  }

  /** The sessions in which the tab's documents are. */
  get sessions(): readonly string[] {
    return [this.#tab, ...this.#frames];
  }

  /** Runs an expression in the extension and returns what it resolves to. */
  async inExtension(expression: string): Promise<unknown> {
    return evaluate(this.devtools, this.#extension, expression);
  }

  /** Runs an expression in the tab. */
  async inTab(expression: string): Promise<unknown> {
    return evaluate(this.devtools, this.#tab, expression);
  }

  /** Opens one more page of the extension and returns what runs expressions in it. */
  async openPage(name: string): Promise<(expression: string) => Promise<unknown>> {
    const url = text(await this.inExtension(`chrome.runtime.getURL(${JSON.stringify(name)})`));
    const session = await openTab(this.devtools, url);
    return (expression) => evaluate(this.devtools, session, expression);
  }

  /** Ends the extension's worker, as the browser does at will. */
  async endWorker(): Promise<void> {
    await this.devtools.send(this.#extension, 'ServiceWorker.enable');
    await this.devtools.send(this.#extension, 'ServiceWorker.stopAllWorkers');
    await this.devtools.send(this.#extension, 'ServiceWorker.disable');
  }

  async close(): Promise<void> {
    await this.devtools.send('', 'Browser.close').catch(() => undefined);
    this.devtools.close();
    await end(this.#process, this.#profile);
  }

  async #prepare(): Promise<void> {
    this.devtools.listen((_, method, params) => {
      const session = text(params.sessionId);
      if (method === 'Target.detachedFromTarget') this.#frames.delete(session);
      if (method !== 'Target.attachedToTarget') return;
      if (record(params.targetInfo).type !== 'iframe') return;
      this.#frames.add(session);
      // Gone again before it could be asked: then there is nothing to attach to in it.
      this.#attachFramesOf(session).catch(() => undefined);
    });
    await this.#attachFramesOf(this.#tab);
    await this.devtools.send(this.#tab, 'Page.enable');
  }

  async #attachFramesOf(session: string): Promise<void> {
    await this.devtools.send(session, 'Target.setAutoAttach', {
      autoAttach: true,
      flatten: true,
      waitForDebuggerOnStart: false,
    });
  }
}

// The worker's address tells that the extension is there, and its id.
async function openExtension(devtools: Devtools): Promise<string> {
  const isWorker = ({ type, url }: Target) =>
    type === 'service_worker' && url.endsWith('/background.js');
  const worker = await devtools.find(isWorker);
  return openTab(devtools, new URL('options.html', worker.url).href);
}

async function openTab(devtools: Devtools, url: string): Promise<string> {
  const { targetId } = await devtools.send('', 'Target.createTarget', { url, background: true });
  const session = await devtools.attach(text(targetId));
  const limit = performance.now() + START_WITHIN_MS;
  const isReady = `location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`;
  // What is asked while the page takes the place of the empty one may fail.
  const look = () => evaluate(devtools, session, isReady).catch(() => false);
  while ((await look()) !== true) {
    if (performance.now() > limit) throw new Error(`${url} did not load within 60 s`);
    await delay(20);
  }
  return session;
}

async function evaluate(devtools: Devtools, session: string, expression: string): Promise<unknown> {
  const how = { expression, awaitPromise: true, returnByValue: true };
  const answer = await devtools.send(session, 'Runtime.evaluate', how);
  if (answer.exceptionDetails !== undefined) {
    const { exception, text: what } = record(answer.exceptionDetails);
    throw new Error(text(record(exception).description) || text(what));
  }
  return record(answer.result).value;
}

// The browser writes its port and path into its profile once it listens.
async function findAddress(child: ChildProcess, profile: string): Promise<string> {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  const limit = performance.now() + START_WITHIN_MS;
  while (performance.now() < limit) {
    if (failure) throw new Error(`${PROGRAM} cannot be started`, { cause: failure });
    if (child.exitCode !== null) throw new Error(`${PROGRAM} ended with ${child.exitCode}`);
    const address = readAddress(join(profile, 'DevToolsActivePort'));
    if (address !== null) return address;
    await delay(20);
  }
  throw new Error(`${PROGRAM} did not listen within 60 s`);
}

function readAddress(file: string): string | null {
  if (!existsSync(file)) return null;
  const [port, path] = readFileSync(file, 'utf8').split('\n');
  return port && path ? `ws://127.0.0.1:${port}${path}` : null;
}

async function end(child: ChildProcess, profile: string): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const limit = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
    await ended;
    clearTimeout(limit);
  }
  await remove(profile);
}

// Its helpers may be writing for a moment longer, and what comes late keeps a folder from going.
async function remove(folder: string): Promise<void> {
  const limit = performance.now() + END_WITHIN_MS;
  for (;;) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (performance.now() > limit) throw error;
      await delay(20);
    }
  }
}
