/** Files on their way: parts that are kept, and what reaches the page. */

import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { CommandError } from '../../src/command';
import { COMMANDS } from '../../src/commands';
import type { Services } from '../../src/driver/common/services';
import {
  forgetUpload,
  keepPart,
  takeUpload,
  UPLOAD_PART_CHARACTERS,
  UPLOADS_MOST_BYTES,
} from '../../src/driver/input/uploads';
import { execute, registerDriver } from '../../src/execute';
import { fakeCall } from '../support/fake-call';
import { fakePage } from '../support/fake-page';
import { fakeServices } from '../support/fake-services';
import { FakeDriverChrome } from './fake-driver-chrome';

const browser = new FakeDriverChrome().install();
browser.tabs.set(1, { id: 1, url: 'https://a.test/', title: 'A', frozen: false });
registerDriver();

const OWNER = { clientId: 'x', tabId: 1 };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const facts = (size: number, name = 'a.txt') => ({ name, mimeType: 'text/plain', size });

function keep(text: string, more: Partial<Parameters<typeof keepPart>[1]> = {}, owner = OWNER) {
  return keepPart(owner, { uploadId: 'u', file: 0, offset: 0, data: base64(text), ...more });
}

function refused(work: () => unknown, code: string, message = /./): void {
  assert.throws(work, (error) => {
    assert.ok(error instanceof CommandError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });
}

afterEach(() => {
  for (const id of ['u', 'v', 'w']) forgetUpload(id);
});

test('parts are kept in order and taken whole, once', () => {
  assert.equal(keep('hello'), 5);
  assert.equal(keep(' there', { offset: 5 }), 11);
  assert.equal(keep('ü', { file: 2 }), 2);
  const files = [facts(11), facts(0), facts(2)];
  assert.deepEqual(
    takeUpload(OWNER, 'u', files).map(({ parts }) => parts),
    [[base64('hello'), base64(' there')], [], [base64('ü')]],
  );
  refused(() => takeUpload(OWNER, 'u', files), 'UPLOAD_INCOMPLETE', /upload them again/);
});

test('a part that does not follow is refused, and so is what is not base64', () => {
  keep('hello');
  for (const offset of [0, 4, 6])
    refused(() => keep('x', { offset }), 'INVALID_ARGUMENT', /5 bytes/);
  refused(() => keep('x', { file: 1, offset: 5 }), 'INVALID_ARGUMENT', /0 bytes/);
  for (const data of ['', 'abc', 'ab c', 'a=bc', '/etc/passwd', 'ab==ab==']) {
    refused(() => keep('', { offset: 5, data }), 'INVALID_ARGUMENT', /base64/);
  }
  const data = 'A'.repeat(UPLOAD_PART_CHARACTERS + 4);
  refused(() => keep('', { offset: 5, data }), 'INVALID_ARGUMENT', /at most 4194304/);
});

test('an upload that is not whole is not taken, and not kept', () => {
  for (const files of [[facts(6)], [facts(4)], [facts(5), facts(1)]]) {
    keep('hello');
    refused(() => takeUpload(OWNER, 'u', files), 'UPLOAD_INCOMPLETE');
    assert.equal(keep('hello'), 5, 'it begins anew');
    forgetUpload('u');
  }
  refused(() => takeUpload(OWNER, undefined, [facts(5)]), 'UPLOAD_INCOMPLETE');
  assert.deepEqual(takeUpload(OWNER, undefined, []), []);
  assert.equal(takeUpload(OWNER, 'v', [facts(0)]).length, 1, 'an empty file has no parts');
});

test('an upload is for the client and the tab that it was begun for', () => {
  keep('hello');
  for (const other of [
    { clientId: 'y', tabId: 1 },
    { clientId: 'x', tabId: 2 },
  ]) {
    refused(() => keep('x', { offset: 5 }, other), 'UPLOAD_INCOMPLETE');
    refused(() => takeUpload(other, 'u', [facts(5)]), 'UPLOAD_INCOMPLETE');
  }
  assert.equal(takeUpload(OWNER, 'u', [facts(5)]).length, 1, 'nobody else has ended it');
});

test('all uploads together have a limit', () => {
  const data = 'A'.repeat(UPLOAD_PART_CHARACTERS);
  const size = (UPLOAD_PART_CHARACTERS / 4) * 3;
  let offset = 0;
  for (; offset + size <= UPLOADS_MOST_BYTES; offset += size) keep('', { offset, data });
  refused(() => keep('', { uploadId: 'v', data }), 'TOO_LARGE', /at most 50 MiB/);
  refused(() => keep('', { offset, data }), 'TOO_LARGE');
  forgetUpload('u');
  assert.equal(keep('', { uploadId: 'w', data }), size, 'what is forgotten makes room');
});

test('an upload is forgotten when no part has come for a minute', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  keep('hello');
  mock.timers.tick(59_000);
  keep(' there', { offset: 5 });
  mock.timers.tick(59_000);
  keep('!', { offset: 11 });
  mock.timers.tick(60_000);
  refused(() => takeUpload(OWNER, 'u', [facts(12)]), 'UPLOAD_INCOMPLETE');
  mock.timers.reset();
});

function run(command: string, args: object, services: Partial<Services> = {}): Promise<unknown> {
  const call = fakeCall(command, args, { tabId: 1 });
  return execute(call, { signal: new AbortController().signal }, fakeServices(services));
}

const part = (text: string, offset = 0) => ({ uploadId: 'u', file: 0, offset, data: base64(text) });
const ELEMENT = { ref: 7, role: 'button', name: 'File', tag: 'input' };

/** Answers as a page with a file input; returns what it was asked. */
function fileInput(problem?: object): unknown[][] {
  const asked: unknown[][] = [];
  browser.content = (method, args) => {
    if (['fileInput', 'keepPart', 'setFiles'].includes(method)) asked.push([method, ...args]);
    if (method === 'fileInput') return problem ?? ELEMENT;
    if (method === 'setFiles') return ELEMENT;
    return method === 'untilQuiet' ? { added: 0, removed: 0, attributes: 0, text: 0 } : null;
  };
  return asked;
}

test('files reach the page in parts, and no path reaches the debugger', async () => {
  const asked = fileInput();
  assert.deepEqual(await run('browser_upload_part', part('hello')), { received: 5 });
  await run('browser_upload_part', part(' there', 5));
  const wish = { selector: '#file', uploadId: 'u', files: [facts(11)] };
  const report = Object(await run('browser_upload_file', wish));
  assert.equal(report.element.name, 'File');
  const key = asked[1]?.[1];
  assert.deepEqual(asked, [
    ['fileInput', { by: 'selector', selector: '#file' }, 1],
    ['keepPart', key, 0, base64('hello')],
    ['keepPart', key, 0, base64(' there')],
    ['setFiles', { by: 'ref', ref: 7 }, key, [facts(11)]],
  ]);
  assert.ok(!browser.asked.some((command) => command.includes('setFileInputFiles')));
  refused(() => takeUpload(OWNER, 'u', [facts(11)]), 'UPLOAD_INCOMPLETE');
});

test('nothing is sent to what takes no files, and the bytes are not kept', async () => {
  const asked = fileInput({ problem: 'wrong_kind', element: ELEMENT, message: 'no file input' });
  await run('browser_upload_part', part('hello'));
  const wish = { selector: '#file', uploadId: 'u', files: [facts(5)] };
  await assert.rejects(run('browser_upload_file', wish), /no file input/);
  assert.deepEqual(
    asked.map(([method]) => method),
    ['fileInput'],
  );
  refused(() => takeUpload(OWNER, 'u', [facts(5)]), 'UPLOAD_INCOMPLETE');
});

test('a path is no file, wherever it stands', async () => {
  const asked = fileInput();
  for (const files of [['/etc/passwd'], ['a.txt', facts(0)], '/etc/passwd', [{ path: '/a' }]]) {
    const wish = { selector: '#file', files };
    await assert.rejects(run('browser_upload_file', wish), /paths are not taken/);
  }
  assert.equal(asked.length, 0);
});

test('whoever may only look, or may not use the page, brings no part', async () => {
  const checkSite = () => {
    throw new CommandError('SITE_NOT_ALLOWED', 'no');
  };
  for (const services of [{ isReadOnly: () => true }, { isStopped: () => true }, { checkSite }]) {
    await assert.rejects(run('browser_upload_part', part('hello'), services), CommandError);
    refused(() => takeUpload(OWNER, 'u', [facts(5)]), 'UPLOAD_INCOMPLETE');
  }
});

test('a part that is withdrawn takes the upload with it', async () => {
  keep('hello');
  const page = fakePage(1, {}, AbortSignal.abort(new Error('withdrawn')));
  const command = COMMANDS.find(({ name }) => name === 'browser_upload_part');
  assert.ok(command !== undefined && command.on === 'page');
  await assert.rejects(command.bind(part('!', 5))(page), /withdrawn/);
  refused(() => takeUpload(OWNER, 'u', [facts(5)]), 'UPLOAD_INCOMPLETE');
});
