import { expect, test } from 'vitest';
import { mapDiagnostics } from '../../src/inject/diagnostics.ts';

const input = Buffer.from('first\nop ins(%a) outs(%b)\nlast\n');
const insertions = [{ offset: 9, text: '{attr} ' }];
const map = (messages: string) => mapDiagnostics(messages, input, insertions, 'dir/in.mlir');

test('a message, its line of source and its caret are about the input', () => {
  expect(map('<stdin>:2:11: error: bad\nop {attr} ins(%a) outs(%b)\n          ^\nnote\n')).toBe(
    'dir/in.mlir:2:4: error: bad\nop ins(%a) outs(%b)\n   ^\nnote\n',
  );
});

test('places before the insertion stay, and what is inserted is where it was inserted', () => {
  expect(map('<stdin>:2:1: remark: x')).toBe('dir/in.mlir:2:1: remark: x');
  expect(map('<stdin>:2:6: remark: x')).toBe('dir/in.mlir:2:4: remark: x');
  expect(map('<stdin>:3:2: remark: x')).toBe('dir/in.mlir:3:2: remark: x');
  expect(map('<stdin>:99:2: remark: x')).toBe('dir/in.mlir:99:2: remark: x');
});

test('other text is left alone, but for the name of the file', () => {
  expect(map('hello\nworld')).toBe('hello\nworld');
  expect(map('could not open <stdin>')).toBe('could not open dir/in.mlir');
  const withoutCaret = '<stdin>:1:1: note: a\nfirst\n<stdin>:2:1: note: b\n';
  expect(map(withoutCaret)).toBe('dir/in.mlir:1:1: note: a\nfirst\ndir/in.mlir:2:1: note: b\n');
});
