/**
 * Compressed pages: there and back, the bound, and environments that cannot.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync, deflateSync, inflateRawSync } from 'node:zlib';
import { ProtocolError } from '../src/check';
import { canDeflate, deflate, inflate } from '../src/compression';

function buffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

/** Runs something in an environment that has other streams, or none. */
function without(streams: unknown, run: () => void): void {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'DecompressionStream') ?? {};
  Object.defineProperty(globalThis, 'DecompressionStream', { value: streams, configurable: true });
  try {
    run();
  } finally {
    Object.defineProperty(globalThis, 'DecompressionStream', before);
  }
}

test('text survives the way there and back, and others read it too', async () => {
  for (const text of ['', 'x', 'ä€😀'.repeat(10_000), 'y'.repeat(5_000_000)]) {
    const bytes = await deflate(text);
    assert.equal(inflateRawSync(bytes).toString(), text);
    assert.equal(await inflate(buffer(bytes)), text);
  }
});

test('inflating stops at the limit', async () => {
  const exact = buffer(deflateRawSync('x'.repeat(1000)));
  assert.equal((await inflate(exact, 1000)).length, 1000);
  await assert.rejects(inflate(exact, 999), /more than 999 bytes/);
  const bomb = buffer(deflateRawSync(Buffer.alloc(64 * 1024 * 1024, 32)));
  await assert.rejects(inflate(bomb), ProtocolError);
});

test('what is not one whole stream of text does not inflate', async () => {
  const whole = deflateRawSync('hello '.repeat(100));
  // Bytes after the end are refused by browsers and the hub, but not by every Node.
  const broken = [
    whole.subarray(0, -1),
    deflateSync('hello'),
    Buffer.from('hello'),
    Buffer.alloc(0),
    deflateRawSync(Buffer.from([0xff, 0xfe])),
  ];
  for (const bytes of broken) {
    await assert.rejects(inflate(buffer(bytes)), ProtocolError, bytes.toString('hex'));
  }
});

test('an environment without the streams, or without this format, cannot', () => {
  assert.ok(canDeflate());
  without(undefined, () => assert.ok(!canDeflate()));
  class OnlyGzip {
    constructor() {
      throw new TypeError('unsupported format');
    }
  }
  without(OnlyGzip, () => assert.ok(!canDeflate()));
});
