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
