// Types the commands of docs/tuning.md, with simulated measurements: `first` and `second` are machines, `you` profile a program.
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { rocm } from '../../src/backend/rocm/index.ts';
import { TUNERS } from '../../src/compat/auto-scheduler.ts';
import { HOST, matmulModule, oddMatmul, Workplace } from '../scenarios/support.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { blocksOf } from '../support/page.ts';
import { root } from '../support/real-tools.ts';
import { testPage, Typist, typeAll } from './support.ts';

const page = readFileSync(join(root, 'docs', 'tuning.md'), 'utf8');
const blocks = blocksOf('docs/tuning.md');

test('the page names every knob and tuner, and no other', () => {
  const spelled =
    /`((?:distribution|cache|vector|workgroup|summed|threads)_\w+|inner|peeling|data_tiling|prefetch)`/g;
  const knobs = [...page.matchAll(spelled)].map(([, name]) => name!);
  const known = [...llvmCpu.userKnobs, ...rocm.userKnobs];
  expect(new Set(knobs)).toEqual(new Set(known.map(({ name }) => name)));
  for (const tuner of Object.keys(TUNERS)) expect(page).toContain(`\`${tuner}\``);
});

function begin(user: string): Typist {
  if (user !== 'you') {
    const place = Workplace.simulated({}, { isShort: true });
    mkdirSync(place.path('models'));
    place.write('models/model.mlir', oddMatmul);
    return new Typist(place, { FLAGS: HOST.join(' ') });
  }
  const place = Workplace.simulated();
  // A setting would come before the settings file of the auto-scheduler, so PATH has the compiler.
  const tools = dirname(place.env['IREE_TUNED_COMPILER']!);
  const you = new Typist(place, { IREE_TUNED_COMPILER: undefined }, [tools]);
  place.write('model.mlir', matmulModule(24, 24, 16));
  return you;
}

testPage('tuning', blocks, async () => {
  const share = temporaryDirectory();
  const people = await typeAll(blocks, {
    begin,
    // Fewer and smaller sizes: seconds instead of hours.
    here: (text) =>
      text
        .replaceAll('/mnt/share', share)
        .replaceAll(
          '--m 64:1024:64 --n 1024,4096 --k 1024 --dtype f32,f16',
          '--m 64 --n 48 --k 40 --rhs-constant no',
        )
        .replaceAll('--m 64:1024:64 --n 512 --k 512', '--m 64,512 --n 512 --k 512 --rhs-constant no'),
  });
  expect(people.get('first')!.said).toMatch(/^1 of 1 have a record now, 1 of them faster/m);
  const merged = people.get('second')!.stdout.at(-1);
  expect(merged).toMatch(/m=64 n=512 k=512/);
  expect(merged).toMatch(/m=512 n=512 k=512/);

  const { place, ...output } = people.get('you')!;
  const said = output.stdout.join('');
  const stderr = output.stderr.join('');
  const read = (name: string) =>
    parse<Record<string, string>>(place.read(name), { columns: true, relax_column_count: false });

  // The default and the best of one matmul, then all trials, then a sweep of two shapes.
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

  const { trials } = JSON.parse(place.read('trials.json').toString()) as {
    trials: { ratio: number | null; knobs: object }[];
  };
  expect(trials[0]).toHaveProperty('ratio');
  expect(trials.flatMap(({ knobs }) => Object.keys(knobs))).toEqual(
    expect.arrayContaining(['distribution_m', 'cache_k', 'peeling']),
  );
  expect(said).toMatch(/^ *time +gain .*distribution_m.* outcome$/m);

  const scheduled = read('matmul.csv');
  expect(scheduled.length).toBeGreaterThan(2);
  for (const row of scheduled.slice(1)) expect(row['Tile config']).toMatch(/^(8|16)x(8|16|24)x(8|16)$/);
  expect(said).toMatch(
    /\*{56}\n\[Performance\]: The best is tilesizes:\((8|16)x(8|16|24)x(8|16)\)_.*\nwith gflops [\d.]+\n\n\d+ hours \d+ minutes \d+ seconds\n\*{56}\n$/,
  );
  expect(said).toMatch(/^XGBoostTuner: .*strategy xgb.*16 trials each/m);
  expect(stderr).toContain('block_dim_x, block_dim_y, pipeline_depth have no effect on llvm-cpu');
  expect(stderr).toMatch(/iree_bin: there is no .*iree_build\/tools\/iree-compile;/);
  const log = place.read('run.log').toString();
  expect(log.match(/^\[Date\]: \d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d\n\n\[Transform Time\]/gm)).toHaveLength(4);
  expect(log).toMatch(/\nsearch space size is : \d+\nvalid run: \d+\n\[Search Time\]: .*\n\n=+\n\n$/);
});
