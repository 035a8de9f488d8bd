// Files of benchmarks, valid and invalid.
import { describe, expect, test } from 'vitest';
import { readKernels, readModels } from '../../../src/report/html/bench-files.ts';

const ABOUT = {
  ...{ version: 1, date: '2026-05-20T08:00:00.000Z', machine: { key: 'a CPU threads=1', cores: 2 } },
  versions: { iree: { key: '3.13.0@0123456789' }, node: 'v24' },
};
const SHAPE = {
  shape: { name: '8x8x8', m: 8, n: 8, k: 8, elementType: 'f32' },
  gflops: { stock: 1, tuned: 2, dataTiling: null, openblas: 3.5, mkl: null },
  peak: [{ gflops: 100, vectorBits: 512, chains: 8 }, { gflops: 120 }, { gflops: 110 }],
};
const kernels = (change: object = {}) =>
  JSON.stringify({ ...ABOUT, options: { threads: 1, rounds: 3 }, shapes: [SHAPE], ...change });

const RESULT = {
  ...{ model: 'm', state: 'compiled by both', reason: null, sameCode: false, agreements: [], dispatches: [] },
  verdict: {
    equal: true,
    maxError: 0,
    reason: null,
    timing: { ratio: 2, low: 1.9, high: 2.1, seconds: [2, 1] },
  },
  coverage: {
    contractions: 0.9,
    decided: 0.8,
    applied: 0.7,
    left: [{ reason: 'r', share: 0.1, dispatches: [] }],
  },
};
const models = (change: object = {}) => JSON.stringify({ ...ABOUT, results: [{ ...RESULT, ...change }] });

describe('kernels', () => {
  test('are read for a page', () => {
    expect(readKernels(kernels(), 'k.json')).toEqual({
      ...{
        date: ABOUT.date,
        device: 'a CPU threads=1',
        compiler: '3.13.0@0123456789',
        threads: 1,
        peak: 110,
      },
      shapes: [{ name: '8x8x8', rates: SHAPE.gflops, peak: 110 }],
    });
  });
  test('can lack a peak', () => {
    const read = readKernels(kernels({ shapes: [{ ...SHAPE, peak: null }] }), 'k.json');
    expect([read.peak, read.shapes[0]!.peak]).toEqual([null, null]);
  });
  test.each([
    ['no JSON', '{', 'k.json is not JSON'],
    ['of another script', models(), 'k.json: options'],
    ['of another version', kernels({ version: 2 }), 'k.json: version'],
    [
      'with a rate below nothing',
      kernels({ shapes: [{ ...SHAPE, gflops: { ...SHAPE.gflops, mkl: -1 } }] }),
      'k.json: shapes.0.gflops.mkl',
    ],
  ])('%s are refused with the command that writes them', (_, text, message) => {
    expect(() => readKernels(text, 'k.json')).toThrow(message);
    expect(() => readKernels(text, 'k.json')).toThrow('npm run bench:kernels -- --json FILE');
  });
});

describe('models', () => {
  test('are read for a page', () => {
    const { models: read } = readModels(models(), 'm.json');
    expect(read).toMatchObject([
      {
        name: 'm',
        equal: true,
        timing: { ratio: 2, seconds: [2, 1] },
        coverage: { applied: 0.7, left: [{ share: 0.1 }] },
      },
    ]);
  });
  test('can lack compiles, runs or times', () => {
    const { models: read } = readModels(
      models({ verdict: null, coverage: null, reason: 'error: x' }),
      'm.json',
    );
    expect(read).toMatchObject([{ equal: null, timing: null, coverage: null, reason: 'error: x' }]);
  });
  test('with a share above 1 are refused', () => {
    const coverage = { ...RESULT.coverage, applied: 1.5 };
    expect(() => readModels(models({ coverage }), 'm.json')).toThrow('m.json: results.0.coverage.applied');
  });
});
