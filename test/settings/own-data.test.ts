// The setting `input`.
import { expect, test } from 'vitest';
import { ownDataText, parseOwnData, pathsOf, withPaths } from '../../src/settings/own-data.ts';

test('entries stand behind blanks or semicolons, and values have the syntax of the runtime', () => {
  const text =
    'arg3=@my tables.npy; prefill.arg0=@a.npy,8xi32=@b.bin\targ1=2x2xi32=1 2,3 4;;arg2=7;' +
    ' parameters=@w.irpa parameters=model=@w.safetensors;';
  expect(parseOwnData(text)).toEqual({
    arguments: [
      { function: null, argument: 3, values: ['@my tables.npy'] },
      { function: 'prefill', argument: 0, values: ['@a.npy', '8xi32=@b.bin'] },
      { function: null, argument: 1, values: ['2x2xi32=1 2,3 4'] },
      { function: null, argument: 2, values: ['7'] },
    ],
    parameters: [
      { scope: null, path: 'w.irpa' },
      { scope: 'model', path: 'w.safetensors' },
    ],
  });
});

test('a function may have dots in its name, and the sign of MLIR before it', () => {
  expect(parseOwnData('@module.main.arg0=1')!.arguments).toEqual([
    { function: 'module.main', argument: 0, values: ['1'] },
  ]);
});

test.each([
  'tokens.npy',
  'arg=@tokens.npy',
  'arg0=',
  'arg0=1 arg0=2',
  'tokens arg0=1',
  'parameters=w.irpa',
  'parameters=model=',
])('%j is no data', (text) => {
  expect(parseOwnData(text)).toBeNull();
});

test('no text is no data', () => {
  expect(parseOwnData(' ')).toEqual({ arguments: [], parameters: [] });
});

test('only paths change, and the text gives the same data again', () => {
  const data = parseOwnData('arg0=@a.npy,4xf32=@b.bin; main.arg1=2xf32=1 2; parameters=model=@w.gguf')!;
  expect(pathsOf(data)).toEqual(['a.npy', 'b.bin', 'w.gguf']);
  const placed = withPaths(data, (path) => `/data/${path}`);
  expect(ownDataText(placed)).toBe(
    'arg0=@/data/a.npy,4xf32=@/data/b.bin; main.arg1=2xf32=1 2; parameters=model=@/data/w.gguf',
  );
  expect(parseOwnData(ownDataText(placed))).toEqual(placed);
});
