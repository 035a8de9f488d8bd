// `iree-tuned tune --config` and `iree-tuned profile` for GPUs.
// In full after a change of src/compat.
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { isWithout } from '../support/needs.ts';
import { LLVMPIPE_FLAGS, whyNoVulkan } from '../support/vulkan.ts';
import { Workplace } from './support.ts';

/** A settings file, with `space` as its search space. */
const settings = (space: string) => `[Env]
input_file = in.mlir
output_file = out.csv
[SearchSpace]
${space}
[SearchStrategy]
tuner = GridSearchTuner
n_trial = 4
`;

const matmulOf = (size: number, lhs: string) => {
  const [a, c] = [`tensor<${size}x${size}x${lhs}>`, `tensor<${size}x${size}xf32>`];
  return `func.func @main(%a: ${a}, %b: ${a}, %c: ${c}) -> ${c} {
  %0 = linalg.matmul ins(%a, %b : ${a}, ${a}) outs(%c : ${c}) -> ${c}
  return %0 : ${c}
}
`;
};

const rowsOf = (place: Workplace, name: string) =>
  parse<Record<string, string>>(place.read(name), { columns: true, relax_column_count: false });

test.each([
  ['f16', 'tensorcore', 'mmasync', /^mma-tile .*wg=(64|128),64,0 .*subgroups=2,2,0/],
  ['f32', 'simt', 'ffma', /^simt-tile .*wg=(64|128),64,0 .*thread=(32|64),1,0/],
])(
  'without a GPU, configurations for CUDA in %s are compiled and written',
  async (type, core, instruction, key) => {
    const place = Workplace.real();
    place.write('in.mlir', matmulOf(512, type));
    place.write(
      'a.cfg',
      settings('tile_m = [64, 128]\ntile_n = [64]\ntile_k = [32]\nblock_dim_x = [64]\nblock_dim_y = [2]'),
    );
    const flags = ['--iree-hal-target-device=cuda', '--iree-cuda-target=sm_80'];
    const { code, stderr } = await place.tuned(
      ['tune', '--config', 'a.cfg', '--keep', 'kept', '--', ...flags],
      {
        env: { IREE_TUNED_DEVICE: 'cuda' },
      },
    );
    expect(stderr).toContain('configurations are compiled and not measured: no cuda device is found');
    expect(code).toBe(0);
    const [stock, ...variants] = rowsOf(place, 'out.csv');
    expect(stock).toMatchObject({ Configuration: 'default' });
    expect(variants.length).toBeGreaterThan(1);
    for (const row of variants) {
      expect(row['Configuration']).toMatch(key);
      expect(row).toMatchObject({ 'Core class': core, 'Instruction class': instruction, GFLOPs: 'Not run' });
    }
    const kept = rowsOf(place, 'kept/candidates.csv');
    for (const { File } of kept) expect(place.read(`kept/${File!}`).toString()).toMatch(/^\/\/ contraction /);
    expect(place.read('run.log').toString()).toContain(`valid run: ${variants.length}\n`);
  },
);

test('tiles that no configuration can have are named, and the run fails', async () => {
  const place = Workplace.real();
  place.write('in.mlir', matmulOf(512, 'f32'));
  place.write('a.cfg', settings('tile_m = [64]\nblock_dim_x = [48]'));
  const { code, stderr } = await place.tuned(
    ['tune', '--config', 'a.cfg', '--', '--iree-hal-target-device=cuda', '--iree-cuda-target=sm_80'],
    { env: { IREE_TUNED_DEVICE: 'cuda' } },
  );
  expect(stderr).toMatch(/threads_n=48 is left out for .*: a workgroup is no whole number of tiles/);
  expect(stderr).toContain('no configuration compiles');
  expect(code).toBe(1);
});

describe.skipIf(isWithout(whyNoVulkan()))('on a Vulkan device', () => {
  test('configurations are measured, and a profile has their classes', async () => {
    const place = new Workplace({ IREE_TUNED_DEVICE: 'vulkan', IREE_TUNED_BUDGET: '40' });
    place.write('in.mlir', matmulOf(64, 'f32'));
    place.write(
      'a.cfg',
      settings('tile_m = [16, 32]\ntile_n = [64]\ntile_k = [4]\nblock_dim_x = [16]\nblock_dim_y = [4]'),
    );
    const run = await place.tuned(['tune', '--config', 'a.cfg', '--', ...LLVMPIPE_FLAGS]);
    expect(run.code).toBe(0);
    const variants = rowsOf(place, 'out.csv').slice(1);
    expect(variants.map((row) => row['Tile config']).sort()).toEqual(['16x64x4', '32x64x4']);
    for (const row of variants) expect(Number(row['Runtime(ms)'])).toBeGreaterThan(0);
    const profile = await place.tuned(
      ['profile', 'in.mlir', '--all', '-o', 'all.csv', '--', ...LLVMPIPE_FLAGS],
      {
        env: { IREE_TUNED_BUDGET: '0' },
      },
    );
    expect(profile.code).toBe(0);
    for (const row of rowsOf(place, 'all.csv').slice(1))
      expect(row).toMatchObject({ 'Core class': 'simt', 'Instruction class': 'ffma' });
  });
});
