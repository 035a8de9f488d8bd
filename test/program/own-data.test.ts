// The user's data for the functions of a program.
import { mkdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ProgramFunction } from '../../src/input/signature.ts';
import { dataIdentity, dataOf, OwnDataError } from '../../src/program/own-data.ts';
import { parseOwnData } from '../../src/settings/own-data.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { npy } from './npy.ts';

const folder = temporaryDirectory();
const file = (name: string, bytes: Uint8Array): string => {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
};
const square = file('square.npy', npy('<i4', [2, 2], new Int32Array(4)));
const tall = file('tall.npy', npy('<i4', [3, 2], new Int32Array(6)));
const wide = file('wide.npy', npy('<i8', [2, 2], new BigInt64Array(4)));
const raw = file('raw.bin', new Uint8Array(16));
const weights = file('weights.irpa', new Uint8Array(4));

type Shape = readonly number[] | null;

const called = (name: string, shapes: readonly Shape[], call: ProgramFunction['call'] = null) => ({
  ...{ name, call, results: [], unsupported: null },
  arguments: shapes.map((shape) => ({ shape, elementType: 'i32' })),
});

const sized = (length: number, isExtra = false) =>
  called('main', [[length, 2]], {
    ...{ text: String(length), shapes: [[length, 2]], isNamed: false, isExtra },
  });

const lengthOf = (call: ProgramFunction['call']) => call && call.shapes[0]![0]!;

const given = (text: string, functions: readonly ProgramFunction[]) =>
  [...dataOf(parseOwnData(text)!, functions)].map(([one, values]) => [
    one.name,
    lengthOf(one.call),
    Object.fromEntries(values),
  ]);

test.each<[string, Shape, string]>([
  ["NumPy's format", [2, 2], `@${square}`],
  ['raw elements', [2, 2], `2x2xi32=@${raw}`],
  ['elements in the text', [2, 2], '2x2xi32=1 2 3 4'],
  ['zeros', [2, 2], '2x2xi32'],
  ['a scalar', null, '7'],
])('a value may be %s', (_, shape, value) => {
  expect(given(`arg0=${value}`, [called('main', [shape, [1]])])).toEqual([['main', null, { 0: value }]]);
});

test('each function gets its own data, and the others none', () => {
  expect(given(`decode.arg0=@${square}`, [called('prefill', [[2, 2]]), called('decode', [[2, 2]])])).toEqual([
    ['prefill', null, {}],
    ['decode', null, { 0: `@${square}` }],
  ]);
});

describe('a function with several calls', () => {
  test('takes a file for each, and is not called at the size that we add', () => {
    expect(given(`arg0=@${square},@${tall}`, [sized(2), sized(3), sized(5, true)])).toEqual([
      ['main', 2, { 0: `@${square}` }],
      ['main', 3, { 0: `@${tall}` }],
    ]);
  });

  test('takes one file for all calls of this size', () => {
    expect(given(`arg0=@${square}`, [sized(2), sized(3, true)])).toEqual([['main', 2, { 0: `@${square}` }]]);
    const fixed = (call: ProgramFunction['call']) => called('main', [[2, 2], [lengthOf(call)!]], call);
    const calls = [sized(2), sized(3, true)].map(({ call }) => fixed(call));
    expect(given(`arg0=@${square}`, calls).map(([, length]) => length)).toEqual([2, 3]);
  });
});

test.each<[string, readonly ProgramFunction[], string]>([
  [
    'arg0=1',
    [called('a', [null]), called('b', [null])],
    'arg0: the program has several functions, so name one: a.arg0, b.arg0',
  ],
  [
    'c.arg0=1',
    [called('a', [null]), called('b', [null])],
    'c.arg0: the program has no such function (they are a, b)',
  ],
  ['arg2=1', [called('main', [null, null])], 'arg2: @main has the arguments arg0 to arg1'],
  ['arg0=1', [called('main', [])], 'arg0: @main has no arguments'],
  ['arg0=1', [called('main', [[2, 2]])], 'arg0 of @main takes 2x2xi32, and not "1"'],
  [`arg0=@${tall}`, [called('main', [[2, 2]])], `arg0 of @main takes 2x2xi32, and ${tall} is 3x2xi32`],
  [`arg0=@${wide}`, [called('main', [[2, 2]])], `arg0 of @main takes 2x2xi32, and ${wide} is 2x2xi64`],
  ['arg0=2x2xf32=1', [called('main', [[2, 2]])], 'arg0 of @main takes 2x2xi32, and the value is 2x2xf32'],
  [`arg0=@${tall}`, [sized(2), sized(3)], `arg0 of @main at 2 takes 2x2xi32, and ${tall} is 3x2xi32`],
  [
    `arg0=@${square},@${square},@${square}`,
    [sized(2), sized(3), sized(5, true)],
    'arg0 has 3 files: give one, or one for each of its 2 calls',
  ],
  [`arg0=5xi32=@${raw}`, [called('main', [[5]])], `${raw} has 16 bytes, and 5xi32 takes 20 bytes`],
  [
    `arg0=@${folder}/none.npy`,
    [called('main', [[2]])],
    `${folder}/none.npy does not exist, or cannot be read`,
  ],
  [`parameters=@${folder}/none.irpa`, [], `${folder}/none.irpa does not exist, or cannot be read`],
  [`parameters=@${folder}`, [], `${folder} is not a file`],
])('%s is refused', (text, functions, message) => {
  expect(() => given(text, functions)).toThrow(new OwnDataError(message));
});

test('data of a function that cannot be called are not looked at', () => {
  const unsupported = { ...called('main', []), unsupported: 'its rank is not known' };
  expect(given('arg3=1', [unsupported])).toEqual([['main', null, {}]]);
});

describe('the identity of data', () => {
  const identityOf = (text: string) => dataIdentity(parseOwnData(text)!);

  test('changes with contents, places and values, and not with paths', async () => {
    const other = join(folder, 'copy');
    mkdirSync(other, { recursive: true });
    writeFileSync(join(other, 'square.npy'), npy('<i4', [2, 2], new Int32Array(4)));
    const own = await identityOf(`arg0=@${square}`);
    expect(await identityOf(`arg0=@${join(other, 'square.npy')}`)).toBe(own);
    const others = [`arg1=@${square}`, `arg0=@${tall}`, 'arg0=1', 'arg0=2', `parameters=@${weights}`];
    const all = await Promise.all([...others, `parameters=m=@${weights}`].map(identityOf));
    expect(new Set([own, ...all]).size).toBe(all.length + 1);
    expect(await identityOf('')).toBeNull();
  });

  test('of a large file changes with its time', async () => {
    const large = file('large.irpa', new Uint8Array());
    truncateSync(large, 2 ** 26 + 1);
    const before = await identityOf(`parameters=@${large}`);
    expect(await identityOf(`parameters=@${large}`)).toBe(before);
    utimesSync(large, 1, 1);
    expect(await identityOf(`parameters=@${large}`)).not.toBe(before);
  });
});
