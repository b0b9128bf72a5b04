/**
 * The door: the generated tables against the documented examples and against nonsense.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { asEvent, findFault, ProtocolError, parseFrame } from '../src/check';
import { fromBrowserSchema, toBrowserSchema } from '../src/generated/protocol';

const PROTOCOL = readFileSync('../docs/protocol.md', 'utf8');

test('every example in the protocol document passes the door of its direction', () => {
  const examples = [...PROTOCOL.matchAll(/```json\n(.+?)\n```/gs)].map((match) => match[1] ?? '');
  assert.ok(examples.length > 30, `${examples.length} examples found`);
  for (const example of examples) {
    const message: unknown = JSON.parse(example);
    const faults = [fromBrowserSchema, toBrowserSchema].map((schema) => findFault(schema, message));
    assert.ok(faults.includes(undefined), `${example}: ${faults.join('; ')}`);
  }
});

test('every message of the tables has an entry in the protocol document', () => {
  const types = [toBrowserSchema, fromBrowserSchema].flatMap((schema) =>
    Object.keys(schema.messages),
  );
  for (const type of types) assert.ok(PROTOCOL.includes(`\n### ${type}\n`), type);
});

test('unknown fields are ignored', () => {
  assert.equal(parseFrame('{"type":"ping","since":"2.1"}').type, 'ping');
});

test('frames that are not what their type says are refused', () => {
  const broken = [
    '',
    'not json',
    'null',
    '[]',
    '"ping"',
    '{}',
    '{"type":7}',
    '{"type":"telepathy"}',
    '{"type":"constructor"}',
    '{"type":"__proto__"}',
    '{"type":"hello","instanceId":"4f6e","kind":"app","epoch":"e"}',
    '{"type":"cancel"}',
    '{"type":"cancel","callId":5}',
    '{"type":"cancel","callId":null}',
    '{"type":"event","sequence":-1,"name":"x"}',
    '{"type":"event","sequence":1.5,"name":"x"}',
    '{"type":"event","sequence":1e300,"name":"x"}',
    '{"type":"event","sequence":"1","name":"x"}',
    '{"type":"event","sequence":1,"name":"x","level":"loud"}',
    '{"type":"callTool","callId":"c","target":"app","toolName":"t","deadlineMs":5}',
    '{"type":"callTool","callId":"c","target":"moon","toolName":"t","args":{},"deadlineMs":5}',
    '{"type":"ack","position":{"epoch":"e"}}',
    '{"type":"ack","position":[]}',
    '{"type":"replayRequest","from":{"epoch":"e","sequence":1},"types":"console"}',
    '{"type":"replayRequest","from":{"epoch":"e","sequence":1},"types":[1]}',
    '{"type":"replayPage","epoch":"e","upto":1,"recovered":true,"messages":{},"more":false}',
  ];
  for (const frame of broken) assert.throws(() => parseFrame(frame), ProtocolError, frame);
});

test('binary frames are refused', () => {
  for (const data of [new ArrayBuffer(3), undefined, { type: 'ping' }]) {
    assert.throws(() => parseFrame(data), ProtocolError);
  }
});

test('opaque payloads are let through, null included, but must be there where required', () => {
  for (const args of ['null', '{"a":[1]}', '"text"', '0']) {
    const frame = `{"type":"callTool","callId":"c","target":"app","toolName":"t","args":${args},"deadlineMs":5}`;
    assert.equal(parseFrame(frame).type, 'callTool');
  }
});

test('a fault names the place', () => {
  const frame = '{"type":"ack","position":{"epoch":1,"sequence":2}}';
  assert.throws(() => parseFrame(frame), /ack\.position\.epoch is not string/);
});

test('only events come out of a replay page', () => {
  assert.equal(asEvent({ type: 'event', sequence: 3, name: 'x' }).sequence, 3);
  const others = [{ type: 'ping' }, { sequence: 3, name: 'x' }, { type: 'event' }, null, 'event'];
  for (const value of others) assert.throws(() => asEvent(value), ProtocolError);
});
