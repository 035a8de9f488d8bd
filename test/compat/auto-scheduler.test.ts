import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAutoScheduler, TUNERS } from '../../src/compat/auto-scheduler.ts';
import { STRATEGIES } from '../../src/search/index.ts';

const published = readFileSync(join(import.meta.dirname, 'data', 'auto-scheduler.cfg'), 'utf8');

test('the published file is read', () => {
  expect(published.match(/^input_file/gm)).toHaveLength(2);
  expect(readAutoScheduler(published, 'a.cfg')).toEqual({
    tools: 'iree_build/tools',
    ...{ input: 'matmul.mlir', output: 'matmul.csv' },
    space: [
      { name: 'distribution_m', values: [64, 128], where: 'a.cfg:10' },
      { name: 'distribution_n', values: [32, 64], where: 'a.cfg:11' },
      { name: 'cache_k', values: [32, 64, 128, 256], where: 'a.cfg:12' },
      { name: 'data_tiling', values: [false], where: 'a.cfg' },
    ],
    gpuOnly: ['block_dim_x', 'block_dim_y', 'block_dim_z', 'pipeline_depth'],
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

test('without a search space everything is allowed', () => {
  expect(
    readAutoScheduler('[Env]\ninput_file = a\n[SearchSpace]\nblock_dim_x = [64]', 'a.cfg').space,
  ).toEqual([]);
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
  ['input_file = a', 'a.cfg:1: input_file stands in no section'],
  ['[Env]\ninput_file', 'a.cfg:2: "input_file" is no KEY = VALUE'],
  ['[Env]\ninput = a', 'a.cfg:2: [Env] has no input'],
  ['[Search]', 'a.cfg:1: there is no section [Search]; there are Env, SearchSpace, SearchStrategy'],
  ['[Env]\ninput_file = a\n[SearchSpace]\ntile_m = [64, x]', 'a.cfg:4: tile_m: "x" is no number'],
  ['[Env]\ninput_file = a\n[SearchSpace]\nblock_dim_z = [2]', 'a.cfg:4: block_dim_z has to be [1]'],
  ['[Env]\ninput_file = a\n[SearchStrategy]\ntuner = Best', 'a.cfg:4: tuner "Best" is none of XGBoostTuner'],
  ['[Env]\ninput_file = a\n[SearchStrategy]\nn_trial = 0', 'a.cfg:4: n_trial "0" is no whole number'],
])('%j is refused with file and line', (text, message) => {
  expect(() => readAutoScheduler(text, 'a.cfg')).toThrow(message);
});
