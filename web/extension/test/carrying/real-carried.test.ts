/**
 * A page from elsewhere that the extension carries, with a real hub and a real browser.
 *
 * The page's host name means this machine in that browser only, so it is a foreign origin to the
 * SDK and to the hub's gate. Needs the built extension and SDK.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { RealHub } from '../../../shared/test/support/real-hub';
import { isRecord } from '../../src/check';
import { DEFAULT_SETTINGS } from '../../src/settings';
import { Browser } from '../agreement/browser';

const PAGE = `<!doctype html><title>Counter</title><script type="module">
  import { connect } from '/sdk.js';
  window.statuses = [];
  window.counter = { count: 1 };
  window.link = connect({
    name: 'counter',
    hub: new URLSearchParams(location.search).get('hub'),
    state: () => window.counter,
    tools: [{ name: 'count_up', description: 'Counts.', run: () => ++window.counter.count }],
    onStatus: (status) => window.statuses.push(status),
  });
</script>`;

const files = new Map([
  ['/', { type: 'text/html', body: PAGE }],
  ['/sdk.js', { type: 'text/javascript', body: readFileSync('sdk/dist/index.js', 'utf8') }],
]);
const site = createServer((request, response) => {
  const file = files.get(new URL(request.url ?? '/', 'http://host').pathname);
  response.writeHead(file === undefined ? 404 : 200, {
    'content-type': file?.type ?? 'text/plain',
  });
  response.end(file?.body);
});
await new Promise((resolve) => site.listen(0, '127.0.0.1', () => resolve(undefined)));
const address = site.address();
assert.ok(isRecord(address));
const origin = `http://app.example:${address.port}`;

const hub = await RealHub.start();
const browser = await Browser.start(['--host-resolver-rules=MAP app.example 127.0.0.1']);

after(async () => {
  await browser.close();
  await hub.stop();
  site.closeAllConnections();
  site.close();
});

async function until(what: string, isTrue: () => Promise<unknown>): Promise<void> {
  const limit = performance.now() + 40_000;
  while ((await isTrue()) !== true) {
    assert.ok(performance.now() < limit, `${what}: not within 40 s`);
    await delay(20);
  }
}

/** Waits until the page is told this. */
function told(field: 'type' | 'reason', word: string): Promise<void> {
  return until(`the page is told ${word}`, () =>
    browser.inTab(`window.link?.status.${field} === ${JSON.stringify(word)}`),
  );
}

async function pairExtension(): Promise<void> {
  const settings = JSON.stringify({ ...DEFAULT_SETTINGS, port: hub.port });
  await browser.inExtension(`chrome.storage.local.set({ settings: ${settings} })`);
  const { code } = JSON.parse(hub.run(['pair', '--no-wait', '--json']).toString());
  await browser.inExtension(`(() => {
    const port = chrome.runtime.connect({ name: 'panel' });
    port.onMessage.addListener((state) => { globalThis.panel = state; });
    port.postMessage({ type: 'pair', code: ${JSON.stringify(code)} });
  })()`);
  await until('the extension is paired', () =>
    browser.inExtension(`globalThis.panel?.link.type === 'connected'`),
  );
}

async function callCounter(): Promise<unknown> {
  const call = { session: 'counter', tool: 'count_up', args: {} };
  return (await hub.post('/api/call', call)).result;
}

test('a page from elsewhere is carried once the user has allowed it, and not before', async () => {
  await pairExtension();
  await browser.open(`${origin}/?hub=${encodeURIComponent(`http://127.0.0.1:${hub.port}`)}`);
  // No script of ours is in the page, so it tries by itself and the hub refuses it.
  await told('reason', 'origin_not_allowed');
  // It may be at its next attempt already, and have no reason there.
  const status = await browser.inTab('statuses.find(({ reason }) => reason !== undefined)');
  assert.ok(isRecord(status));
  assert.equal(status.reason, 'origin_not_allowed');
  assert.match(String(status.message), /press "Let this page connect" in the Tabwire extension/);
  const before = (await hub.get('/api/sessions')).sessions;
  assert.ok(Array.isArray(before));
  assert.equal(before.length, 1, 'the browser and nobody else');

  const inPopup = await browser.openPage('popup.html');
  const allow = `document.querySelector('[data-key="allow-${origin}"]')`;
  // The popup is behind the page here, so the page is still in front.
  await until('the popup offers it', () => inPopup(`${allow} !== null`));
  assert.equal(await inPopup(`${allow}.textContent`), 'Let this page connect');
  await inPopup(`${allow}.click()`);
  await told('type', 'connected');

  const session = await hub.get('/api/sessions/counter');
  const [own] = before;
  assert.deepEqual([session.kind, session.origin], ['app', origin]);
  assert.equal(session.carriedBy, own.instanceId);
  await until('the hub knows the tool', async () => {
    const { tools } = await hub.get('/api/sessions/counter');
    return Array.isArray(tools) && tools.length > 0;
  });
  assert.equal(await callCounter(), 2);
  assert.equal(await browser.inTab('window.counter.count'), 2);
  await browser.inTab('window.counter.count = 40; link.changed()');
  await until('a change by hand is pushed', async () => {
    const state = await hub.get('/api/sessions/counter/state');
    return isRecord(state.value) && state.value.count === 40 && state.source === 'cache';
  });
});

test('the page comes back as the same session when the worker dies', async () => {
  const before = await hub.get('/api/sessions/counter');
  await browser.endWorker();
  await until('it was away and is back', async () => {
    const { connected, connections } = await hub.get('/api/sessions/counter');
    return connected === true && Number(connections) > Number(before.connections);
  });
  await told('type', 'connected');
  assert.equal((await hub.get('/api/sessions/counter')).id, before.id);
  assert.equal(await callCounter(), 41);
  const reasons = await browser.inTab(`statuses.map(({ reason }) => reason)`);
  assert.ok(Array.isArray(reasons) && reasons.includes('lost'), String(reasons));
});

test('a page that is taken off the list is put out at once', async () => {
  const remove = `document.querySelector('#web-apps button')`;
  await until('the options list it', () => browser.inExtension(`${remove} !== null`));
  await browser.inExtension(`${remove}.click()`);
  await told('reason', 'not_allowed_yet');
  await until('the hub knows', async () => {
    return (await hub.get('/api/sessions/counter')).connected === false;
  });
});
