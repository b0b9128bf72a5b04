import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError, readArguments } from '../../src/command';
import { formFields } from '../../src/driver/input/form-fields';

function read(fields: unknown) {
  return readArguments('fill', { fields: formFields() }, { fields }).fields;
}

test('a field has one name and a value', () => {
  assert.deepEqual(
    read([
      { ref: 'e1', value: 'a' },
      { label: 'Name', value: '' },
    ]),
    [
      { at: 0, named: 'e1', by: 'ref', value: 'a' },
      { at: 1, named: 'Name', by: 'label', value: '' },
    ],
  );
});

test('what is wrong with a field is told by its place', () => {
  const right = { selector: '#a', value: 'x' };
  const cases: Array<[unknown, RegExp]> = [
    [undefined, /fields is missing; it must be a list of 1 to 100/],
    [[], /a list of 1 to 100 fields/],
    [Array.from({ length: 101 }, () => right), /a list of 1 to 100 fields/],
    [[right, 'x'], /fields\.1 must be an object/],
    [[right, { value: 'x' }], /fields\.1 must name its field by ref, selector or label/],
    [[{ ref: 'e1', label: 'a', value: 'x' }], /fields\.0 has ref and label; give only one/],
    [[{ label: ' ', value: 'x' }], /fields\.0\.label must be a string that is not empty/],
    [[{ label: 'a' }], /fields\.0\.value must be a string; check boxes take "true" or "false"/],
    [[{ label: 'a', value: true }], /fields\.0\.value must be a string/],
    [[{ label: 'a', value: 'x', text: 'x' }], /fields\.0 has no text; it takes ref, selector/],
  ];
  for (const [fields, message] of cases) {
    assert.throws(
      () => read(fields),
      (error) =>
        error instanceof CommandError &&
        error.code === 'INVALID_ARGUMENT' &&
        message.test(error.message),
      JSON.stringify(fields)?.slice(0, 200),
    );
  }
});
