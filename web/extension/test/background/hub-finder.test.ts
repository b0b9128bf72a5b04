import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toBase64Url } from '@tabwire/shared';
import { type Candidate, HubFinder, NothingFound } from '../../src/background/hub-finder';
import type { HostAnswer } from '../../src/background/native-host';
import { readAnswer } from '../../src/background/native-host';
import type { KeptKey } from '../../src/background/pairing';

const key = (fill: number) => new Uint8Array(32).fill(fill);
const ABSENT: HostAnswer = { type: 'absent', message: 'not found' };

/** A machine: what its host says, which ports listen, what is kept and wanted. */
function machine(parts: {
  host?: HostAnswer;
  kept?: KeptKey;
  wanted?: number;
  listening?: number[];
}) {
  const asked = { host: 0, ports: [] as number[] };
  const finder = new HubFinder({
    askHost: async () => {
      asked.host += 1;
      return parts.host ?? ABSENT;
    },
    keptKey: async () => parts.kept,
    wantedPort: () => parts.wanted,
    listens: async (port) => {
      asked.ports.push(port);
      return parts.listening?.includes(port) ?? false;
    },
  });
  return { finder, asked, parts };
}

/** Tries so often, with nobody taking us, and returns what was tried. */
async function tries(finder: HubFinder, count: number): Promise<string[]> {
  const seen: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const candidate = await finder.next();
    seen.push(`${candidate.source} ${candidate.port}`);
    finder.failed(candidate);
  }
  return seen;
}

test('the native host is asked first and before each attempt', async () => {
  const host: HostAnswer = { type: 'hub', port: 9000, key: key(1), running: true };
  const { finder, asked } = machine({ host, listening: [8765] });
  const expected: Candidate = { source: 'host', port: 9000, key: key(1) };
  assert.deepEqual(await finder.next(), expected);
  assert.deepEqual(await finder.next(), expected);
  assert.equal(asked.host, 2);
  assert.deepEqual(asked.ports, []);
});

test('without a host, the kept key is tried at the wanted port, the last one, and the usual', async () => {
  const { finder, asked } = machine({ kept: { key: key(2), port: 9100 }, wanted: 9200 });
  await assert.rejects(finder.next(), NothingFound);
  const usual = Array.from({ length: 11 }, (_, n) => 8765 + n);
  assert.deepEqual(asked.ports, [9200, 9100, ...usual]);
});

test('each hub that does not take us is left for the next, round and round', async () => {
  const listening = [8766, 8770, 8775];
  const { finder } = machine({ kept: { key: key(2), port: 8770 }, listening });
  const round = ['kept 8770', 'kept 8766', 'kept 8775'];
  assert.deepEqual(await tries(finder, 5), [...round, 'kept 8770', 'kept 8766']);
  finder.welcomed();
  assert.deepEqual(await tries(finder, 1), ['kept 8770']);
});

test('a host whose key is not taken shares the attempts with a kept key', async () => {
  const host: HostAnswer = { type: 'hub', port: 8765, key: key(1), running: true };
  const { finder } = machine({ host, kept: { key: key(2), port: 8765 }, listening: [8765] });
  assert.deepEqual(await tries(finder, 4), ['host 8765', 'kept 8765', 'host 8765', 'kept 8765']);
});

test('a pasted code is tried once at each port that listens, before all else', async () => {
  const host: HostAnswer = { type: 'hub', port: 9000, key: key(1), running: true };
  const { finder } = machine({ host, listening: [9000, 8767] });
  finder.useCode(key(3));
  assert.deepEqual(await tries(finder, 3), ['code 9000', 'code 8767', 'host 9000']);
  assert.equal(finder.hasCode, false);
});

test('what is missing is said: a key, a hub, or the consent of the host', async () => {
  const check = async (parts: Parameters<typeof machine>[0], unpaired: boolean, words: RegExp) => {
    const reason: unknown = await machine(parts)
      .finder.next()
      .catch((error) => error);
    assert.ok(reason instanceof NothingFound);
    assert.equal(reason.unpaired, unpaired);
    assert.match(reason.message, words);
  };
  const host: HostAnswer = { type: 'hub', port: 8765, key: key(1), running: false };
  await check({}, true, /tabwire install/);
  await check({ kept: { key: key(2), port: 8765 } }, false, /no hub answers/);
  await check({ host }, false, /no hub answers/);
  await check({ host: { type: 'refused', message: 'go away' } }, true, /go away/);
});

test('what the native host says is checked', () => {
  const hub = { type: 'hub', port: 8765, key: toBase64Url(key(1)), running: true };
  assert.deepEqual(readAnswer(hub), { ...hub, key: key(1) });
  assert.deepEqual(readAnswer({ ...hub, name: 'work' }), { ...hub, key: key(1), name: 'work' });
  const launched = { ...hub, launched: true };
  assert.deepEqual(readAnswer(launched), { ...launched, key: key(1) });
  assert.equal('launched' in readAnswer({ ...hub, launched: 'yes' }), false);
  for (const wrong of [undefined, 'x', {}, { ...hub, port: '8765' }, { ...hub, key: 'AA' }]) {
    assert.equal(readAnswer(wrong).type, 'absent', JSON.stringify(wrong));
  }
  const refused = { type: 'refused', message: 'not you' };
  assert.deepEqual(readAnswer(refused), refused);
});
