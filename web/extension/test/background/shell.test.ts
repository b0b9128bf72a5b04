/**
 * The worker as a whole, with a browser and a hub that the test plays: what the hub hears of tabs,
 * and which calls reach them.
 */

import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { until } from '../../../shared/test/support/fake-clock';
import { type FakeSocket, Sockets, welcome } from '../../../shared/test/support/fake-socket';
import { Shell } from '../../src/background/shell';
import { DEFAULT_SETTINGS, keptSettings, type Settings } from '../../src/settings';
import { FakePort } from '../carrying/fake-ports';
import { FakeChrome } from '../support/fake-chrome';

const KEY = randomBytes(32);
const PORT = 4711;
const CLAUDE = { id: 'c1', name: 'claude' };

interface World {
  readonly launched?: boolean;
  readonly settings?: Partial<Settings>;
}

/** A browser with a mail and a shop in it, and a hub that has welcomed it. */
async function scene({ launched, settings = {} }: World = {}) {
  const browser = new FakeChrome().install();
  const mail = browser.open({ title: 'My mail', url: 'https://mail.test/' });
  const shop = browser.open({ title: 'Shop', url: 'https://shop.test/' });
  const own = browser.open({ title: 'Dashboard', url: `http://localhost:${PORT}/dashboard/#key` });
  browser.front = mail;
  const host = { type: 'hub', port: PORT, key: KEY.toString('base64url'), running: true, launched };
  Object.assign(chrome, {
    alarms: { get: async () => undefined, create: async () => {} },
    debugger: { getTargets: async () => [] },
    runtime: {
      getManifest: () => ({ version: '0' }),
      getURL: () => 'chrome-extension://us/',
      sendNativeMessage: async () => host,
    },
  });
  const sockets = new Sockets();
  Object.assign(globalThis, {
    navigator: { userAgentData: undefined },
    WebSocket: sockets.constructorForClient,
  });
  const shell = new Shell('chrome-1', { ...DEFAULT_SETTINGS, ...settings });
  await shell.start();
  await until(() => sockets.all.length > 0);
  const socket = sockets.last;
  socket.open();
  await greet(socket);
  await until(() => shell.link.state.type === 'connected');
  return { browser, shell, socket, mail, shop, own };
}

/** Proves to be the hub, and welcomes. */
async function greet(socket: FakeSocket): Promise<void> {
  const hello = socket.of('hello')[0] ?? assert.fail('no hello');
  const nonce = randomBytes(32).toString('base64url');
  const words = ['tabwire.v2 hub', `loopback:${PORT}`, 'chrome-1', hello.nonce, nonce];
  const proof = createHmac('sha256', KEY).update(words.join('\n')).digest('base64url');
  socket.say({ type: 'challenge', nonce, proof });
  await until(() => socket.of('prove').length === 1);
  const received = { epoch: socket.of('prove')[0]?.epoch ?? '', sequence: 0 };
  socket.say(welcome({ received }));
}

/** Returns all that the hub was told, as text. */
function heard(socket: FakeSocket): string {
  return JSON.stringify(socket.sent);
}

function events(socket: FakeSocket, name: string): unknown[] {
  return socket.of('event').flatMap((event) => (event.name === name ? [event.data] : []));
}

let calls = 0;

/** Calls a command in a tab; returns the code of its error. */
async function call(socket: FakeSocket, tabId: number): Promise<string | undefined> {
  const callId = `call-${++calls}`;
  socket.say({
    type: 'callTool',
    callId,
    target: 'command',
    toolName: 'browser_snapshot',
    tabId,
    args: {},
    deadlineMs: 2_000,
    client: CLAUDE,
  });
  const result = () => socket.of('toolResult').find((end) => end.callId === callId);
  await until(() => result() !== undefined);
  return result()?.error?.code;
}

function wish(shell: Shell, message: unknown): void {
  popup(shell).say(message);
}

/** Opens the popup: what it is shown, the port has been told. */
function popup(shell: Shell): FakePort {
  const port = new FakePort({ url: 'chrome-extension://us/popup.html' });
  Object.assign(port, { name: 'panel' });
  shell.panels.open(port as unknown as chrome.runtime.Port);
  return port;
}

/** Waits until the popup shows these apps as waiting. */
async function shows(port: FakePort, origins: readonly string[]): Promise<void> {
  await until(() => JSON.stringify(port.last?.waitingApps) === JSON.stringify(origins));
}

test('in the user’s own browser the hub hears how many tabs there are, and no more', async () => {
  const { socket } = await scene();
  await until(() => events(socket, 'tabsHidden').length > 0);
  assert.deepEqual(events(socket, 'tabsHidden'), [{ count: 3 }]);
  assert.deepEqual(socket.of('tabCreated'), []);
  assert.doesNotMatch(heard(socket), /My mail|mail\.test|Shop/);
});

test('in a browser that Tabwire has started, or where the user wants it, it hears of all', async () => {
  for (const world of [{ launched: true }, { settings: { otherTabs: true } }]) {
    const { socket, mail, shop, own } = await scene(world);
    await until(() => socket.of('tabCreated').length === 3);
    const told = socket.of('tabCreated').map(({ tab }) => [tab.id, tab.title]);
    assert.deepEqual(told, [
      [mail, 'My mail'],
      [shop, 'Shop'],
      [own, ''],
    ]);
    assert.doesNotMatch(heard(socket), /dashboard/, 'the hub’s own pages have no name');
  }
  const { socket } = await scene({ launched: true, settings: { otherTabs: false } });
  await until(() => events(socket, 'tabsHidden').length > 0);
  assert.deepEqual(socket.of('tabCreated'), []);
});

test('what the user decides about other tabs holds at once', async () => {
  const { shell, socket } = await scene();
  await keptSettings.save({ ...DEFAULT_SETTINGS, otherTabs: true });
  await shell.settingsChanged();
  await until(() => socket.of('tabCreated').length === 3);
  await keptSettings.save({ ...DEFAULT_SETTINGS, otherTabs: false });
  await shell.settingsChanged();
  await until(() => socket.of('tabClosed').length === 3);
});

test('no call reaches a tab that the hub was not told of', async () => {
  const { socket, mail, shell } = await scene();
  assert.equal(await call(socket, mail), 'TAB_NOT_FOUND');
  assert.equal(shell.groups.isDriven(mail), false);
  assert.doesNotMatch(heard(socket), /mail\.test/);
});

test('a hub cannot make a tab a client’s that the user has not shown', async () => {
  const { socket, mail, shop, shell } = await scene();
  const client = CLAUDE;
  const owner = (tabId: number, sequence: number, rest: object) =>
    socket.say({ type: 'event', sequence, name: 'tabOwner', data: { tabId, ...rest } });
  owner(mail, 1, { client });
  owner(shop, 2, { client: null, keptFor: 'claude' });
  await shell.groups.claimsDone();
  assert.deepEqual([shell.groups.isDriven(mail), shell.groups.isOffered(shop)], [false, false]);
  assert.equal(await call(socket, shop), 'TAB_NOT_FOUND');
});

test('a tab that the user gives to a client is told first, then that it is the client’s', async () => {
  const { socket, shop, shell } = await scene();
  socket.say({ type: 'event', sequence: 1, name: 'clients', data: { clients: [CLAUDE] } });
  wish(shell, { type: 'giveTo', tabId: shop, clientId: 'c1' });
  await until(() => events(socket, 'tabGiven').length > 0);
  assert.deepEqual(events(socket, 'tabGiven'), [{ tabId: shop, client: CLAUDE }]);
  const [created] = socket.of('tabCreated');
  assert.deepEqual([created?.tab.id, created?.tab.title], [shop, 'Shop']);
  const [given] = socket.of('event').filter(({ name }) => name === 'tabGiven');
  assert.ok((created?.sequence ?? 0) < (given?.sequence ?? 0));
  assert.deepEqual(shell.groups.tabsOf('c1'), [shop]);
});

test('a tab that is handed over stays known, one that is released does not', async () => {
  const { socket, mail, shop, shell } = await scene();
  await shell.groups.giveTo(shop, CLAUDE);
  await shell.groups.giveTo(mail, CLAUDE);
  let sequence = 0;
  const tellOwner = async (data: object) => {
    sequence += 1;
    socket.say({ type: 'event', sequence, name: 'tabOwner', data: { client: null, ...data } });
    await shell.groups.claimsDone();
    await shell.tabs.review();
    return socket.of('tabClosed').map(({ tabId }) => tabId);
  };
  assert.deepEqual(await tellOwner({ tabId: shop, keptFor: 'codex' }), []);
  assert.equal(shell.groups.isOffered(shop), true);
  assert.deepEqual(await tellOwner({ tabId: mail }), [mail]);
  assert.deepEqual(await tellOwner({ tabId: shop }), [mail, shop]);
});

test('a page that is let connect has its script at once', async () => {
  const { browser, mail, shell } = await scene();
  wish(shell, { type: 'allow', origin: 'https://mail.test' });
  await until(() => browser.local.values.has('settings'));
  // The browser tells that the settings are others.
  await shell.settingsChanged();
  await until(() => browser.injected.length > 0);
  assert.deepEqual(browser.injected, [`carrier.js ${mail}`]);
  assert.deepEqual([...browser.scripts.keys()], ['carrier https://mail.test/*']);
  assert.equal(shell.carriers.allows('https://mail.test'), true);
});

const APP = 'http://localhost:5173';
const OTHER_APP = 'http://127.0.0.1:3000';

function tellWaiting(socket: FakeSocket, sequence: number, data: unknown): void {
  socket.say({ type: 'event', sequence, name: 'appsWaiting', data });
}

test('an app that waits is shown, until the hub says that nobody does', async () => {
  const { socket, shell } = await scene();
  const port = popup(shell);
  await shows(port, []);
  tellWaiting(socket, 1, { origins: [APP, OTHER_APP] });
  await shows(port, [APP, OTHER_APP]);
  tellWaiting(socket, 2, { origins: [] });
  await shows(port, []);
});

test('Allow and Not now each tell the hub once, and the app is shown no more', async () => {
  const { socket, shell } = await scene();
  const port = popup(shell);
  tellWaiting(socket, 1, { origins: [APP, OTHER_APP] });
  const allow = { type: 'answerApp', origin: APP, allowed: true };
  port.say(allow);
  await shows(port, [OTHER_APP]);
  port.say(allow);
  port.say({ type: 'answerApp', origin: OTHER_APP, allowed: false });
  await shows(port, []);
  await until(() => events(socket, 'appAnswered').length > 1);
  assert.deepEqual(events(socket, 'appAnswered'), [
    { origin: APP, allowed: true },
    { origin: OTHER_APP, allowed: false },
  ]);
});

test('what is no list of waiting apps changes nothing, and what is no origin is not shown', async () => {
  const { socket, shell } = await scene();
  const port = popup(shell);
  let sequence = 0;
  const tell = (data: unknown) => tellWaiting(socket, ++sequence, data);
  tell({ origins: [APP] });
  await shows(port, [APP]);
  for (const data of [null, [APP], {}, { origins: APP }, { origins: { 0: APP } }]) tell(data);
  await shows(popup(shell), [APP]);
  const odd = [7, null, '', 'null', 'localhost', `${APP}/`, `${APP}/<b>`, 'http://localhost:99999'];
  tell({ origins: [...odd, `http://${'a'.repeat(200)}`, OTHER_APP] });
  await shows(port, [OTHER_APP]);
  const many = Array.from({ length: 30 }, (_, index) => `http://localhost:${4000 + index}`);
  tell({ origins: many });
  await shows(port, many.slice(0, 20));
});

test('only an app that waits can be answered, with yes or no', async () => {
  const { socket, shell } = await scene();
  const port = popup(shell);
  tellWaiting(socket, 1, { origins: [APP] });
  port.say({ type: 'answerApp', origin: OTHER_APP, allowed: true });
  port.say({ type: 'answerApp', origin: APP });
  port.say({ type: 'answerApp', origin: APP, allowed: 'yes' });
  await shows(port, [APP]);
  port.say({ type: 'answerApp', origin: APP, allowed: false });
  await until(() => events(socket, 'appAnswered').length > 0);
  assert.deepEqual(events(socket, 'appAnswered'), [{ origin: APP, allowed: false }]);
});

test('who waits outlives the worker', async () => {
  const { socket } = await scene();
  tellWaiting(socket, 1, { origins: [APP] });
  const next = new Shell('chrome-1', DEFAULT_SETTINGS);
  await next.start();
  await shows(popup(next), [APP]);
});
