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

test('colours stay where they are', () => {
  const [bold, red, green, reset] = ['[1m', '[0;1;31m', '[0;1;32m', '[0m'].map((code) => `\u001b${code}`);
  expect(
    map(
      `${bold}<stdin>:2:11: ${reset}${red}error: ${reset}${bold}bad\n${reset}op {attr} ins(%a) outs(%b)\n${green}          ^\n${reset}`,
    ),
  ).toBe(
    `${bold}dir/in.mlir:2:4: ${reset}${red}error: ${reset}${bold}bad\n${reset}op ins(%a) outs(%b)\n${green}   ^\n${reset}`,
  );
});

test('a message of several lines is followed by the line of the input', () => {
  const message = (line: string) => `:\n  one\n\n  two\n${line}\n`;
  expect(map(`<stdin>:2:11: error${message('op {attr} ins(%a) outs(%b)')}          ^\n`)).toBe(
    `dir/in.mlir:2:4: error${message('op ins(%a) outs(%b)')}   ^\n`,
  );
});

test('tabs are shown as the compiler shows them', () => {
  const tabs = Buffer.from('\top\tins(%a)\n');
  const shown = mapDiagnostics(
    `<stdin>:1:12: error: bad\n        op {attr}       ins(%a)\n                        ^\n`,
    tabs,
    [{ offset: 3, text: ' {attr}' }],
    'in.mlir',
  );
  expect(shown).toBe('in.mlir:1:5: error: bad\n        op      ins(%a)\n                ^\n');
});

test('a line that is not ASCII comes without a caret', () => {
  const line = Buffer.from('op ins(%a) // ü\n');
  expect(
    mapDiagnostics(
      '<stdin>:1:11: error: bad\nop {attr} ins(%a) // ü\nnext\n',
      line,
      [{ offset: 3, text: '{attr} ' }],
      'a',
    ),
  ).toBe('a:1:4: error: bad\nop ins(%a) // ü\nnext\n');
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
