import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { DEFINITIONS, NAMES, splitFlags } from '../../src/settings/settings.ts';

describe("the wrapper's own flags", () => {
  test.each<[string[], string[]]>([
    [
      ['a.mlir', '--iree-tuned-budget=3', '-o', 'b'],
      ['a.mlir', '-o', 'b'],
    ],
    [['--iree-tuned-budget', '3', 'a.mlir'], ['a.mlir']],
    [['-iree-tuned-disable', 'a.mlir'], ['a.mlir']],
    [['--iree-tuned-cache=c', 'a.mlir'], ['a.mlir']],
    [
      ['--iree-tuned-nonsense', 'a.mlir'],
      ['--iree-tuned-nonsense', 'a.mlir'],
    ],
    [
      ['--', '--iree-tuned-disable'],
      ['--', '--iree-tuned-disable'],
    ],
    [['--iree-llvmcpu-target-cpu=host'], ['--iree-llvmcpu-target-cpu=host']],
  ])('%j leave %j', (argv, rest) => {
    expect(splitFlags(argv).rest).toEqual(rest);
  });

  it('take values after = or in the next argument; the last one wins', () => {
    const { given } = splitFlags([
      '--iree-tuned-budget=1',
      '--iree-tuned-budget',
      '2',
      '--iree-tuned-disable',
    ]);
    expect(Object.fromEntries(given)).toEqual({ budget: '2', disable: '1' });
  });

  it('add up sizes of several kinds of dimensions', () => {
    const { given } = splitFlags(['--iree-tuned-dim=m=1,16', '--iree-tuned-dim', 'k=512']);
    expect(given.get('dim')).toBe('m=1,16 k=512');
  });

  it('add up data of several arguments', () => {
    const { given } = splitFlags(['--iree-tuned-input=arg0=@a.npy', '--iree-tuned-input', 'arg1=2xf32=1 2']);
    expect(given.get('input')).toBe('arg0=@a.npy arg1=2xf32=1 2');
  });
});

describe('sizes', () => {
  const read = (text: string) => DEFINITIONS['max-input'].read(text);
  test.each([
    ['512M', 2 ** 29],
    ['8G', 2 ** 33],
    ['1.5GiB', 1.5 * 2 ** 30],
    ['64k', 2 ** 16],
    ['8', undefined],
    ['G', undefined],
    ['-1G', undefined],
  ])('%s', (text, bytes) => {
    expect(read(text)).toBe(bytes);
  });
});

// Without a working Node, the launcher runs the real compiler, and takes our settings out of the arguments itself.
test('the launcher knows the settings that take a value', () => {
  const launcher = readFileSync(join(import.meta.dirname, '../../bin/iree-compile-tuned'), 'utf8');
  const listed = [...launcher.matchAll(/\bflag:([a-z-]+)(?= \||\))/g)].map(([, name]) => name!);
  const withValue = NAMES.filter((name) => DEFINITIONS[name].type !== 'boolean');
  expect(new Set(listed)).toEqual(new Set(withValue));
});
