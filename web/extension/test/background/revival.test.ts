import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdPort, keepAlarm } from '../../src/background/revival';

interface Alarm {
  readonly periodInMinutes?: number;
}

const alarms = new Map<string, Alarm>();
let created = 0;
const injected: string[] = [];
let refuses = false;

Reflect.set(globalThis, 'chrome', {
  alarms: {
    get: async (name: string) => alarms.get(name),
    create: async (name: string, alarm: Alarm) => {
      created++;
      alarms.set(name, alarm);
    },
  },
  scripting: {
    executeScript: async ({ files, func }: { files?: string[]; func?: () => void }) => {
      if (refuses) throw new Error('Cannot access a chrome:// URL');
      injected.push(files?.[0] ?? 'ask');
      func?.();
    },
  },
});

test('the alarm is set where it is missing or another, and left alone where it is right', async () => {
  await keepAlarm();
  assert.deepEqual([created, [...alarms.values()]], [1, [{ periodInMinutes: 0.5 }]]);
  await keepAlarm();
  assert.equal(created, 1, 'setting it anew would put it off each time');
  for (const name of alarms.keys()) alarms.set(name, { periodInMinutes: 5 });
  await keepAlarm();
  assert.equal(created, 2);
});

test('a page is asked for a port once its script is there, and one that refuses is let be', async () => {
  let asked = 0;
  Reflect.set(globalThis, 'tabwire', { keepAwake: () => asked++ });
  const soon = () => new Promise((resolve) => setImmediate(resolve));
  holdPort(1);
  await soon();
  assert.deepEqual([injected, asked], [['content.js', 'ask'], 1]);
  refuses = true;
  holdPort(2);
  await soon();
  assert.equal(asked, 1);
});
