/**
 * How a page on another machine gets its key: from the code in its address, once, and then from
 * what the tab has kept.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Status } from '@tabwire/sdk';
import { codeIn, explainRefusal, type KeyWindow, takePageKey } from '../src/page-key';

const KEY = 'page.abc234.00ff';
const HREF = 'http://hub.example:8765/viewer/?name=left#code=secret42';

/** What the hub answers. */
interface Answer {
  readonly status?: number;
  readonly body?: unknown;
}

/** A window at an address, and a hub that answers one way; without an answer nobody is there. */
class FakeWindow implements KeyWindow {
  readonly location: URL;
  readonly stored: Map<string, string>;
  readonly posted: { url: string; init: RequestInit }[] = [];
  readonly history = {
    state: { at: 1 },
    replaceState: (state: unknown, _: string, url?: string | URL | null) => {
      assert.deepEqual(state, this.history.state);
      this.location.href = String(url);
    },
  };
  readonly sessionStorage: KeyWindow['sessionStorage'];
  readonly #answer: Answer | undefined;

  constructor(href: string, answer?: Answer, stored = new Map<string, string>()) {
    this.location = new URL(href);
    this.stored = stored;
    this.#answer = answer;
    this.sessionStorage = {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
    };
  }

  async fetch(url: string, init: RequestInit): Promise<Response> {
    this.posted.push({ url, init });
    if (this.#answer === undefined) throw new TypeError('Failed to fetch');
    const { status = 200, body } = this.#answer;
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
  }
}

test('a code is traded for a key at the page’s own hub, and the key is kept', async () => {
  const page = new FakeWindow(HREF, { body: { key: KEY } });
  assert.deepEqual(await takePageKey(page), { key: KEY });
  const [{ url, init } = assert.fail('nothing was asked')] = page.posted;
  assert.equal(url, 'http://hub.example:8765/pages/key');
  assert.deepEqual(
    [init.method, init.headers, init.body],
    ['POST', { 'content-type': 'application/json' }, '{"code":"secret42"}'],
  );
  assert.deepEqual([...page.stored], [['tabwire.page-key', KEY]]);
});

test('the code leaves the address before the hub answers, and nothing else does', () => {
  for (const [hash, rest] of [
    ['#code=secret42', ''],
    ['#code=', ''],
    ['#code=a&code=b', ''],
    ['#at=1&code=secret42&to=2', '#at=1&to=2'],
  ]) {
    const page = new FakeWindow(`http://hub.example//viewer/?name=left${hash}`);
    void takePageKey(page);
    assert.equal(page.location.href, `http://hub.example//viewer/?name=left${rest}`);
  }
});

test('a reload uses the key that was kept, and asks for nothing', async () => {
  const kept = new Map([['tabwire.page-key', KEY]]);
  const page = new FakeWindow('http://hub.example:8765/viewer/#at=1', undefined, kept);
  assert.deepEqual(await takePageKey(page), { key: KEY });
  assert.deepEqual(page.posted, []);
  assert.equal(page.location.hash, '#at=1');
});

test('without a code and a kept key there is none; nonsense that was kept is none either', async () => {
  assert.deepEqual(await takePageKey(new FakeWindow('http://hub.example/viewer/')), {});
  const kept = new Map([['tabwire.page-key', 'no (key)']]);
  assert.deepEqual(await takePageKey(new FakeWindow('http://hub.example/', undefined, kept)), {});
});

test('a code that is not taken is told in the hub’s words, and there is no key', async () => {
  const began = 'The hub did not take the code of this link: ';
  for (const [answer, told] of [
    [
      { status: 403, body: { error: { message: 'it is used up', hint: 'make another link' } } },
      'it is used up; make another link.',
    ],
    [{ status: 403, body: { error: { message: 'it is used up', hint: null } } }, 'it is used up.'],
    [{ status: 404, body: '<h1>no</h1>' }, 'it answers with 404.'],
    [{ body: { key: 'no (key)' } }, 'it answers with 200.'],
    [{ status: 500, body: { key: KEY } }, 'it answers with 500.'],
    [undefined, 'it does not answer.'],
  ] as const) {
    const page = new FakeWindow(HREF, answer);
    assert.deepEqual(await takePageKey(page), { trouble: began + told });
    assert.deepEqual([...page.stored], []);
    assert.equal(page.location.hash, '');
  }
});

test('a page whose storage is forbidden has its key until it is left', async () => {
  for (const [href, expected] of [
    [HREF, { key: KEY }],
    ['http://hub.example/viewer/', {}],
  ] as const) {
    const page = new FakeWindow(href, { body: { key: KEY } });
    Object.defineProperty(page, 'sessionStorage', { get: () => assert.fail('forbidden') });
    assert.deepEqual(await takePageKey(page), expected);
  }
});

test('neither code nor key is written to the console', async (t) => {
  const said: unknown[] = [];
  for (const name of ['debug', 'error', 'info', 'log', 'warn'] as const) {
    t.mock.method(console, name, (...words: unknown[]) => said.push(words));
  }
  for (const answer of [{ body: { key: KEY } }, { body: `{"key":"${KEY}` }, undefined]) {
    const { trouble = '' } = await takePageKey(new FakeWindow(HREF, answer));
    assert.doesNotMatch(trouble, /secret42|page\.abc/);
  }
  assert.deepEqual(said, []);
});

test('a link in this tab’s own address bar is known by its code', () => {
  assert.equal(codeIn('#code=secret42'), 'secret42');
  for (const hash of ['', '#', '#at=1', '#mycode=1']) assert.equal(codeIn(hash), undefined);
});

test('a page from elsewhere that the hub turns away says how to open it', () => {
  const link = 'Open this page with the link that `tabwire open viewer --link` prints.';
  const refused: Status = { type: 'refused', reason: 'origin_not_allowed', message: 'try this' };
  const check = (hostname: string, trouble: string | undefined, expected: string) => {
    const { message } = explainRefusal(refused, trouble ? { trouble } : {}, hostname);
    assert.equal(message, expected);
  };
  check('hub.example', undefined, link);
  check('hub.example', 'The code is old.', `The code is old. ${link}`);
  check('localhost', undefined, 'try this');
  check('localhost', 'The code is old.', 'The code is old. try this');
});

test('what a link does not help with is told as it is', () => {
  for (const status of [
    { type: 'connected', session: 'viewer' },
    { type: 'connecting' },
    { type: 'closed' },
    { type: 'waiting', reason: 'hub_not_running', message: 'no hub answers' },
    { type: 'waiting', reason: 'lost', message: 'the connection was lost', retryInMs: 500 },
    { type: 'refused', reason: 'taken', message: 'another page has this session' },
  ] satisfies Status[]) {
    assert.deepEqual(explainRefusal(status, {}, 'hub.example'), status);
  }
});
