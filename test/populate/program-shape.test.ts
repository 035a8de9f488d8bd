// Sweeps of operations that need their own program.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { nameOf, programText } from '../../src/populate/program-shape.ts';
import type { SweepText } from '../../src/populate/ranges.ts';
import { readSweep as swept } from '../../src/populate/sweep.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler } from '../support/installed-tools.ts';

describe('a sweep of programs', () => {
  test('has every combination, and keeps the dimensions of a batch separate', () => {
    const { shapes, programs } = swept({ op: 'softmax', batch: '12,1x16', m: '197:199', n: '333' });
    expect(shapes).toEqual([]);
    expect(programs.map(nameOf)).toEqual([
      'softmax_12x197x333_f32',
      'softmax_12x198x333_f32',
      'softmax_1x16x197x333_f32',
      'softmax_1x16x198x333_f32',
    ]);
  });

  test('can also have contractions', () => {
    const { shapes, programs } = swept({
      op: 'attention,batch_matmul',
      batch: '12',
      m: '1',
      n: '128',
      k: '64',
    });
    expect(shapes.map(({ op }) => op)).toEqual(['batch_matmul', 'batch_matmul']);
    expect(programs.map(nameOf)).toEqual(['attention_12x1x128x64_f32']);
  });

  test.each<[SweepText, string]>([
    [{ op: 'softmax', n: '8' }, 'a sweep of softmax needs --m, --n: --m is missing'],
    [{ op: 'softmax', m: '8', n: '8', k: '8' }, '--k: softmax has no such size'],
    [{ op: 'attention', m: '8', n: '8' }, '--k is missing'],
    [{ op: 'softmax', m: '8', n: '8', rhsConstant: 'yes' }, '--rhs-constant: softmax has no right-hand side'],
    [{ op: 'softmax', m: '8', n: '8', dtype: 'i8' }, '--dtype i8: softmax takes one float type'],
    [{ op: 'softmax', m: '8', n: '8', batch: '2x' }, '--batch : "" is not a size'],
    [{ op: 'pooling', m: '8', n: '8' }, '--op: "pooling" is not one of matmul'],
  ])('%j is refused, by the name of the option', (sweep, message) => {
    expect(() => swept(sweep)).toThrow(message);
  });
});

test('the compiler makes whole dispatches of their programs', async () => {
  const folder = temporaryDirectory();
  const { programs } = swept({
    op: 'attention',
    batch: '2,1x2',
    m: '16',
    n: '48',
    k: '32',
    dtype: 'f32,f16',
  });
  const path = join(folder, 'programs.mlir');
  const texts = programs.map((shape, i) => programText(shape).replace('@attention', `@attention_${i}`));
  const rows = swept({ op: 'softmax', batch: '2,1x2', m: '16', n: '48' }).programs;
  texts.push(...rows.map((shape, i) => programText(shape).replace('@softmax', `@softmax_${i}`)));
  writeFileSync(path, texts.join(''));
  const { stdout } = await execa(compiler.executable, [
    ...['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu'],
    ...['--compile-to=preprocessing', path],
  ]);
  expect(stdout.match(/iree_linalg_ext\.attention/g)).toHaveLength(programs.length);
  expect(stdout.match(/linalg\.softmax/g)).toHaveLength(rows.length);
});
