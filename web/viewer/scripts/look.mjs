/**
 * Looks at the built viewer in a real browser without a GPU: pictures and times.
 *
 * `node viewer/scripts/look.mjs <folder> [address parameters]`, from `web/` and after a build. It
 * serves `dist` from a port of its own, opens it on a laptop's and a phone's screen, saves a PNG
 * of each model and prints the time to the first picture, the frames drawn at rest and every
 * message on the console. `CHROMIUM` names the browser.
 */

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import WebSocket from 'ws';

const DIST = 'viewer/dist';
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const SCREENS = [
  { name: 'laptop', width: 1280, height: 800, deviceScaleFactor: 1, mobile: false },
  { name: 'phone', width: 390, height: 844, deviceScaleFactor: 3, mobile: true },
];
/** Moves the key light with the mouse, a frame for each step. */
const dragging = `(async () => {
  const scene = document.getElementById('scene');
  scene.setPointerCapture = () => {};
  const say = (type, x) => scene.dispatchEvent(new PointerEvent(type, {
    pointerId: 7, button: 2, clientX: x, clientY: 300, bubbles: true,
  }));
  const started = performance.now();
  say('pointerdown', 100);
  for (let step = 1; step <= 20; step += 1) {
    say('pointermove', 100 + 4 * step);
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  }
  say('pointerup', 180);
  return performance.now() - started;
})()`;

const [folder = 'look', parameters = ''] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const server = createServer((request, response) => {
  const path = new URL(request.url, 'http://x').pathname.replace(/\/$/, '/index.html');
  try {
    const bytes = readFileSync(join(DIST, path));
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain' }).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

const profile = mkdtempSync(join(tmpdir(), 'tabwire-look-'));
const browser = spawn(
  process.env.CHROMIUM ?? '/usr/bin/chromium',
  [
    '--headless=new',
    '--no-sandbox',
    '--no-first-run',
    '--disable-gpu',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    'about:blank',
  ],
  { stdio: ['ignore', 'ignore', 'pipe'] },
);
try {
  const socket = new WebSocket(await endpoint());
  await new Promise((resolve) => socket.once('open', resolve));
  for (const screen of SCREENS) await look(open(socket), screen);
  socket.close();
} finally {
  browser.kill();
  await new Promise((resolve) => browser.once('exit', resolve));
  server.close();
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}

function endpoint() {
  return new Promise((resolve) => {
    let written = '';
    browser.stderr.on('data', (data) => {
      written += data;
      const found = /listening on (ws:\S+)/.exec(written);
      if (found) resolve(found[1]);
    });
  });
}

/** Speaks the DevTools protocol over one socket. */
function open(socket) {
  const waiting = new Map();
  const said = [];
  let calls = 0;
  socket.removeAllListeners('message');
  socket.on('message', (data) => {
    const message = JSON.parse(data);
    const { method, params } = message;
    waiting.get(message.id)?.(message);
    if (method === 'Runtime.consoleAPICalled') said.push(params.args.map((a) => a.value).join(' '));
    if (method === 'Runtime.exceptionThrown')
      said.push(params.exceptionDetails.exception?.description);
    if (method === 'Log.entryAdded') said.push(`${params.entry.level}: ${params.entry.text}`);
  });
  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      calls += 1;
      waiting.set(calls, ({ result, error }) =>
        error ? reject(new Error(error.message)) : resolve(result),
      );
      socket.send(JSON.stringify({ id: calls, method, params, sessionId }));
    });
  return { send, said };
}

async function look({ send, said }, { name, mobile, ...metrics }) {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const page = (method, params) => send(method, params, sessionId);
  const evaluate = async (expression) => {
    const asked = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await page('Runtime.evaluate', asked);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description);
    return result.value;
  };
  const shoot = async (file) => {
    const { data } = await page('Page.captureScreenshot', { format: 'png' });
    writeFileSync(join(folder, `${name}-${file}.png`), Buffer.from(data, 'base64'));
  };
  await page('Runtime.enable');
  await page('Log.enable');
  await page('Page.enable');
  await page('Emulation.setDeviceMetricsOverride', { ...metrics, mobile });
  await page('Emulation.setTouchEmulationEnabled', { enabled: mobile });
  const loaded = `new Promise((done) => {
    const look = () => window.tabwireViewer
      ? window.tabwireViewer.ready.then(() => done(performance.now()))
      : setTimeout(look, 5);
    look();
  })`;
  await page('Page.navigate', { url: `${origin}/?${parameters}` });
  console.log(`${name}: first picture after ${Math.round(await evaluate(loaded))} ms`);
  for (const model of ['knot', 'teapot', 'robot']) {
    await evaluate(`[...document.querySelectorAll('#models button')]
      .find((button) => button.textContent === '${model}').click()`);
    await evaluate('window.tabwireViewer.settled()');
    await shoot(model);
  }
  const still = `new Promise((done) => {
    const before = window.tabwireViewer.frames();
    setTimeout(() => done(window.tabwireViewer.frames() - before), 1500);
  })`;
  console.log(`${name}: frames drawn at rest ${await evaluate(still)}`);
  console.log(`${name}: 20 frames of a drag in ${Math.round(await evaluate(dragging))} ms`);
  await shoot('dragged');
  await evaluate(`document.getElementById('help-button').click()`);
  await shoot('help');
  console.log(`${name}: console ${JSON.stringify(said)}`);
  await send('Target.closeTarget', { targetId });
}
