import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Backend } from '../../src/backend/backend.ts';
import { cuda } from '../../src/backend/cuda/index.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { rocm } from '../../src/backend/rocm/index.ts';
import { vulkan } from '../../src/backend/vulkan/index.ts';
import { knobsFor, readAutoScheduler, TUNERS } from '../../src/compat/auto-scheduler.ts';
import { STRATEGIES } from '../../src/search/index.ts';

const published = readFileSync(join(import.meta.dirname, 'data', 'auto-scheduler.cfg'), 'utf8');

test('the published file is read', () => {
  expect(published.match(/^input_file/gm)).toHaveLength(2);
  expect(readAutoScheduler(published, 'a.cfg')).toEqual({
    tools: 'iree_build/tools',
    ...{ input: 'matmul.mlir', output: 'matmul.csv' },
    space: [
      { name: 'tile_m', values: [64, 128], where: 'a.cfg:10' },
      { name: 'tile_n', values: [32, 64], where: 'a.cfg:11' },
      { name: 'tile_k', values: [32, 64, 128, 256], where: 'a.cfg:12' },
      { name: 'block_dim_x', values: [64], where: 'a.cfg:13' },
      { name: 'block_dim_y', values: [2], where: 'a.cfg:14' },
      { name: 'block_dim_z', values: [1], where: 'a.cfg:15' },
      { name: 'pipeline_depth', values: [2], where: 'a.cfg:16' },
    ],
    ...{ tuner: 'XGBoostTuner', strategy: 'xgb', trials: 16 },
  });
});

test('the last of repeated keys wins', () => {
  const { input, trials } = readAutoScheduler(
    '\ufeff# a comment\r\n[Env]\r\ninput_file=a\r\nINPUT_FILE: b\r\n[SearchStrategy]\r\nn_trial=1\r\n; more\r\nn_trial = 2\r\n',
    'a.cfg',
  );
  expect([input, trials]).toEqual(['b', 2]);
});

const names = (backend: Pick<Backend, 'userKnobs'>) => backend.userKnobs.map(({ name }) => name);

describe('the keys are knobs of the backend', () => {
  const short = ({ knobs, unused }: ReturnType<typeof knobsFor>) => ({
    knobs: knobs.map(({ name, values }) => `${name}=${values.join()}`),
    unused,
  });
  const file = readAutoScheduler(published, 'a.cfg');
  test('on a CPU tiles, without data tiling', () => {
    expect(short(knobsFor(file, names(llvmCpu)))).toEqual({
      knobs: ['distribution_m=64,128', 'distribution_n=32,64', 'cache_k=32,64,128,256', 'data_tiling=false'],
      unused: ['block_dim_x', 'block_dim_y', 'pipeline_depth'],
    });
  });
  const gpu = [
    'workgroup_m=64,128',
    'workgroup_n=32,64',
    'summed_k=32,64,128,256',
    'threads_n=64',
    'threads_m=2',
  ];
  test.each([
    ['CUDA', cuda, gpu, ['pipeline_depth']],
    ['Vulkan', vulkan, gpu, ['pipeline_depth']],
    ['HIP', rocm, [...gpu, 'prefetch=2'], []],
  ])(
    'on %s tiles and threads, and stages of loads where the compiler has these',
    (_, backend, knobs, unused) => {
      expect(short(knobsFor(file, names(backend)))).toEqual({ knobs, unused });
    },
  );
  test('and an unknown key is refused with all keys', () => {
    const text = '[Env]\ninput_file = a\n[SearchSpace]\ntile_q = [8]';
    expect(() => knobsFor(readAutoScheduler(text, 'a.cfg'), names(llvmCpu))).toThrow(
      /^a\.cfg:4: \[SearchSpace\] has no tile_q: its keys are tile_m, tile_n, .*pipeline_depth, .*distribution_m/,
    );
  });
  test('without tiles everything is allowed', () => {
    const text = '[Env]\ninput_file = a\n[SearchSpace]\nblock_dim_x = [64]';
    expect(knobsFor(readAutoScheduler(text, 'a.cfg'), names(llvmCpu)).knobs).toEqual([]);
  });
});

test('the search space accepts our knobs', () => {
  const { space } = readAutoScheduler(
    '[Env]\ninput_file = a\n[SearchSpace]\nvector_m = [4, 8,]\npeeling = [true]\ndata_tiling = [True, false]',
    'a.cfg',
  );
  expect(space.map(({ name, values }) => [name, values])).toEqual([
    ['vector_m', [4, 8]],
    ['peeling', [true]],
    ['data_tiling', [true, false]],
  ]);
});

test('each tuner has an existing strategy', () => {
  expect(Object.keys(TUNERS)).toEqual([
    'XGBoostTuner',
    'XGBTuner',
    'GATuner',
    'GridSearchTuner',
    'RandomTuner',
  ]);
  for (const strategy of Object.values(TUNERS)) expect(Object.keys(STRATEGIES)).toContain(strategy);
});

test.each([
  ['', 'a.cfg: [Env] has no input_file'],
  ['input_file = a', 'a.cfg:1: input_file comes before the first section'],
  ['[Env]\ninput_file', 'a.cfg:2: "input_file" is not KEY = VALUE'],
  ['[Env]\ninput = a', 'a.cfg:2: [Env] has no input: its keys are iree_bin, input_file, output_file'],
  [
    '[SearchStrategy]\nn_trials = 4',
    'a.cfg:2: [SearchStrategy] has no n_trials: its keys are tuner, n_trial',
  ],
  ['[Search]', 'a.cfg:1: there is no section [Search]: use Env, SearchSpace, SearchStrategy'],
  ['[Env]\ninput_file = a\n[SearchSpace]\ntile_m = [64, x]', 'a.cfg:4: tile_m: "x" is not a number'],
  [
    '[Env]\ninput_file = a\n[SearchSpace]\nblock_dim_z = [2]',
    'a.cfg:4: block_dim_z is 2: the only value is 1',
  ],
  [
    '[Env]\ninput_file = a\n[SearchSpace]\nblock_dim_x = [64, 1024]\nblock_dim_y = [2, 4]',
    'a.cfg:4: block_dim_x = 1024 gives at least 2048 threads: block_dim_x * block_dim_y * block_dim_z is at most 1024',
  ],
  [
    '[Env]\ninput_file = a\n[SearchStrategy]\ntuner = Best',
    'a.cfg:4: there is no tuner "Best": use XGBoostTuner',
  ],
  [
    '[Env]\ninput_file = a\n[SearchStrategy]\nn_trial = 0',
    'a.cfg:4: n_trial is "0": it takes a whole number from 1',
  ],
])('%j is refused with file and line', (text, message) => {
  expect(() => readAutoScheduler(text, 'a.cfg')).toThrow(message);
});
