import { expect, test } from 'vitest';
import { patternsOf } from '../../src/compat/patterns.ts';

const NAME = 'matmul_3456x1024x2048_f16t_f16t_f16t_tile_config_dist_128x128x0_peel';

test.each([
  ['all', true],
  ['', true],
  [NAME, true],
  ['matmul_3456', true],
  ['matmul*f16t*dist_128', true],
  ['*_peel', true],
  // Parts must come in order. No other character is special.
  ['f16t*matmul', false],
  ['matmul_.*_peel', false],
  ['peel*peel', false],
  ['nothing,matmul*peel', true],
  [',,', true],
])('"%s"', (pattern, isWanted) => {
  expect(patternsOf(pattern).isWanted(NAME)).toBe(isWanted);
});

test.each([
  ['matmul_3456*', true],
  ['matmul_3456*tile_config_dist_64', true],
  ['*tile_config_default', true],
  ['matmul_3456x1024x2048_f16t_f16t_f16t_tile_config_default', true],
  ['matmul_3456*dist_64x', true],
  ['dist_64x', true],
  ['f16t*peel', true],
  ['f32t*peel', false],
  ['f16t*matmul', false],
  ['matmul_512*', false],
  ['matmul_512*tile_config', false],
])('"%s" selects the operations to measure', (pattern, mayBe) => {
  expect(patternsOf(pattern).mayBeWanted('matmul_3456x1024x2048_f16t_f16t_f16t')).toBe(mayBe);
});
