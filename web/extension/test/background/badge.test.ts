import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Badge, type Standing, signOf } from '../../src/background/badge';
import { FakeChrome } from '../support/fake-chrome';

const CONNECTED: Standing = { connectedAs: 'chrome-work', stopped: false, drivenTabs: 0 };

test('the sign says connected or not, stopped, and how many tabs are driven', () => {
  const check = (standing: Partial<Standing>, text: string, title: RegExp) => {
    const sign = signOf({ ...CONNECTED, ...standing });
    assert.equal(sign.text, text);
    assert.match(sign.title, title);
  };
  check({}, '✓', /connected as chrome-work, no tab is driven/);
  check({ drivenTabs: 1 }, '1', /1 tab is driven/);
  check({ drivenTabs: 12 }, '12', /12 tabs are driven/);
  check({ connectedAs: undefined }, '✕', /not connected/);
  check({ connectedAs: undefined, drivenTabs: 3 }, '✕', /not connected/);
  check({ stopped: true, drivenTabs: 3 }, 'off', /stopped by you/);
});

test('green and red are different colours', () => {
  const green = signOf(CONNECTED).colour;
  assert.equal(signOf({ ...CONNECTED, drivenTabs: 2 }).colour, green);
  assert.notEqual(signOf({ ...CONNECTED, connectedAs: undefined }).colour, green);
});

test('the button is told only what is new', async () => {
  const { action } = new FakeChrome().install();
  const badge = new Badge();
  await badge.show(CONNECTED);
  const { calls } = action;
  assert.equal(action.text, '✓');
  await badge.show({ ...CONNECTED });
  assert.equal(action.calls, calls);
  await badge.show({ ...CONNECTED, connectedAs: undefined });
  assert.equal(action.text, '✕');
});
