import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserName, sessionName } from '../../src/background/browser-name';
import { readSite, refusalOf } from '../../src/sites';

test('a site is read however people write it', () => {
  const check = (text: string, site: string | undefined) =>
    assert.equal(readSite(text), site, text);
  check('example.com', 'example.com');
  check(' https://Example.com/path?x#y ', 'example.com');
  check('*.example.com', 'example.com');
  check('localhost:3000', 'localhost:3000');
  check('example.com:80', 'example.com:80');
  check('bücher.example', 'xn--bcher-kva.example');
  for (const wrong of ['', '*', 'two words', 'a@b', '*.*.com']) check(wrong, undefined);
});

test('what is denied stays denied, and with an allow list all else is', () => {
  const check = (url: string, allowedSites: string[], deniedSites: string[], may: boolean) => {
    const refusal = refusalOf(url, { allowedSites, deniedSites });
    assert.equal(refusal === undefined, may, `${url}: ${refusal}`);
  };
  check('https://example.com/', [], [], true);
  check('https://example.com/', [], ['example.com'], false);
  check('https://www.example.com./', [], ['example.com'], false);
  check('https://notexample.com/', [], ['example.com'], true);
  check('https://example.com/', ['example.com'], ['example.com'], false);
  check('https://example.com/', ['other.test'], [], false);
  check('https://a.other.test/', ['other.test'], [], true);
  check('http://localhost:3000/', ['localhost:3000'], [], true);
  check('http://localhost:3001/', ['localhost:3000'], [], false);
  check('https://example.com/', [], ['example.com:80'], true);
  check('wss://example.com/feed', [], ['example.com:443'], false);
  check('ws://example.com/feed', [], ['example.com:443'], true);
  check('about:blank', ['other.test'], [], true);
});

test('files and other things of this machine are closed, whatever is allowed', () => {
  for (const url of [
    'file:///etc/passwd',
    'FILE:///C:/Users/me/secret.txt',
    ' file:///etc/passwd',
    'file://server/share/x',
    'view-source:file:///etc/passwd',
    'blob:file:///1b9e',
    'filesystem:file:///temporary/x',
    'content://media/external/images/1',
    'ftp://host/x',
  ]) {
    for (const allowedSites of [[], ['server', 'host']]) {
      assert.equal(refusalOf(url, { allowedSites, deniedSites: [] })?.code, 'RESTRICTED_PAGE', url);
    }
  }
});

test('of the hub’s own pages only viewer and SDK are open, on every name of this machine', () => {
  const rules = { allowedSites: [], deniedSites: [], hubPorts: [8765] };
  const check = (url: string, may: boolean) =>
    assert.equal(refusalOf(url, rules) === undefined, may, url);
  for (const host of [
    '127.0.0.1',
    'localhost',
    'LocalHost',
    'localhost.',
    'a.localhost',
    '[::1]',
    '127.1',
    '2130706433',
    '0x7f000001',
    '127.0.0.2',
    '0.0.0.0',
    '[::]',
    '[::ffff:127.0.0.1]',
  ]) {
    for (const path of ['', '/', '/api/sessions', '/mcp', '/dashboard/', '/viewer', '/viewers/']) {
      check(`http://${host}:8765${path}`, false);
    }
    check(`http://${host}:8765/viewer/../api`, false);
    check(`http://${host}:8765/viewer/%2e%2e/api`, false);
    check(`http://${host}:8765\\viewer\\..\\api`, false);
    check(`ws://${host}:8765/session/x`, false);
    check(`https://${host}:8765/`, false);
    check(`blob:http://${host}:8765/4f6e`, false);
    check(`view-source:http://${host}:8765/viewer/`, false);
    check(`http://${host}:8765/viewer/?name=left#x`, true);
    check(`http://${host}:8765/sdk/example.html`, true);
    check(`http://${host}:3000/api`, true);
  }
  check('http://example.com:8765/api', true);
  check('http://127.0.0.1.example.com:8765/api', true);
  check('http://localhost/', true);
  assert.ok(refusalOf('http://localhost/', { ...rules, hubPorts: [80] }));
  assert.equal(refusalOf('http://127.0.0.1:8765/api', { ...rules, hubPorts: [] }), undefined);
});

test('the browser is called what people call it', () => {
  const check = (brands: string[], name: string) => {
    const data = { brands: brands.map((brand) => ({ brand, version: '156' })) };
    assert.equal(browserName(data), name);
  };
  check(['Not)A;Brand', 'Chromium', 'Google Chrome'], 'Chrome');
  check(['Chromium', 'Not)A;Brand'], 'Chromium');
  check(['Chromium', 'Microsoft Edge'], 'Edge');
  check(['Brave', 'Chromium'], 'Brave');
  assert.equal(browserName(undefined), 'Browser');
  assert.equal(sessionName('Chrome', '', undefined), 'Chrome');
  assert.equal(sessionName('Chrome', 'work', undefined), 'Chrome work');
  assert.equal(sessionName('Chrome', 'work', 'ci-3'), 'ci-3');
});
