// Types the commands of docs/profile.md, with simulated measurements.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { TUNERS } from '../../src/profile/auto-scheduler.ts';
import { matmulModule, Workplace } from '../scenarios/support.ts';
import { blocksOf } from '../support/page.ts';
import { root } from '../support/real-tools.ts';
import { testPage, Typist, typeAll } from './support.ts';

const page = readFileSync(join(root, 'docs', 'profile.md'), 'utf8');
const blocks = blocksOf('docs/profile.md', 'you');

test('every knob and tuner that there is has its place on the page, and none that there is not', () => {
  const knobs = [...page.matchAll(/`((?:distribution|cache|vector)_\w+|inner|peeling|data_tiling)`/g)].map(
    ([, name]) => name!,
  );
  expect(new Set(knobs)).toEqual(new Set(llvmCpu.userKnobs.map(({ name }) => name)));
  for (const tuner of Object.keys(TUNERS)) expect(page).toContain(`\`${tuner}\``);
});

testPage('profile', blocks, async () => {
  const people = await typeAll(blocks, {
    begin: () => {
      const simulated = Workplace.simulated();
      // Found, and not named by a setting, which would come before what a settings file says.
      const tools = dirname(simulated.env['IREE_TUNED_COMPILER']!);
      const you = new Typist(simulated, { IREE_TUNED_COMPILER: undefined }, [tools]);
      simulated.write('model.mlir', matmulModule(24, 24, 16));
      return you;
    },
  });
  const { place, ...output } = people.get('you')!;
  const said = output.stdout.join('');
  const stderr = output.stderr.join('');
  const read = (name: string) =>
    parse<Record<string, string>>(place.read(name), { columns: true, relax_column_count: false });

  // The default and the best, of the one matmul; then all that was tried; then a sweep of two shapes.
  const profile = read('profile.csv');
  expect(profile.map((row) => row['Tile config'])).toEqual([
    'Default',
    expect.stringMatching(/^\d+x\d+x\d+$/),
  ]);
  expect(Number(profile[1]!['GFLOPs'])).toBeGreaterThan(Number(profile[0]!['GFLOPs']));
  expect(profile[1]).toMatchObject({ Verification: 'SUCCESS', op_kind: 'matmul' });
  const all = read('all.csv');
  expect(all.length).toBeGreaterThan(1);
  for (const row of all)
    expect(row).toMatchObject({
      Machine: 'mine',
      Configuration: expect.stringContaining('dist=') as string,
    });
  expect(new Set(read('sweep.csv').map(({ m }) => m))).toEqual(new Set(['64', '128']));
  const kept = read('candidates/candidates.csv');
  expect(kept.length).toBeGreaterThan(all.length);
  for (const { File } of kept)
    expect(place.read(join('candidates', File!)).toString()).toMatch(/^\/\/ contraction /);

  const trials = read('trials.csv');
  expect(Object.keys(trials[0]!)).toEqual(
    expect.arrayContaining(['distribution_m', 'cache_k', 'peeling', 'ratio']),
  );
  expect(said).toMatch(/^ *time +gain .*distribution_m.* outcome$/m);

  const scheduled = read('matmul.csv');
  expect(scheduled.length).toBeGreaterThan(2);
  for (const row of scheduled.slice(1)) expect(row['Tile config']).toMatch(/^(8|16)x(8|16|24)x(8|16)$/);
  expect(said).toMatch(
    /\*{56}\n\[Performance\]: The best is tilesizes:\((8|16)x(8|16|24)x(8|16)\)_.*\nwith gflops [\d.]+\n\n\d+ hours \d+ minutes \d+ seconds\n\*{56}\n$/,
  );
  expect(said).toContain('XGBoostTuner: the strategy xgb takes its place; 16 trials each.\n');
  expect(stderr).toContain(
    'block_dim_x, block_dim_y, block_dim_z, pipeline_depth mean something on GPUs only',
  );
  expect(stderr).toMatch(
    /iree_bin: there is no .*iree_build\/tools\/iree-compile; the compiler is searched for/,
  );
  const log = place.read('run.log').toString();
  expect(log.match(/^\[Date\]: \d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d\n\n\[Transform Time\]/gm)).toHaveLength(4);
  expect(log).toMatch(/\nsearch space size is : \d+\nvalid run: \d+\n\[Search Time\]: .*\n\n=+\n\n$/);
});
