// Finds the operation of a configuration in a dump. landing.test.ts has the compiler's own dumps.
import { parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { skipped, type Decision } from '../../src/decision/decision.ts';
import { classify, isTunable } from '../../src/input/operation.ts';
import { landedOn, whatLanded } from '../../src/inject/landed.ts';
import { hit } from './decisions.ts';
import { tiles } from '../support/backend.ts';

const TILES = tiles([16, 32, 0], [4, 16, 0], [0, 0, 2]);
const LOWERING =
  '#iree_cpu.lowering_config<distribution = [16, 32, 0], vector_common_parallel = [4, 16, 0], vector_reduction = [0, 0, 2]>';
const OTHER = LOWERING.replace('16, 32', '8, 64');

const matmul = (m: number | '?', n: number, k: number, element = 'f32', lowering: string | null = null) => {
  const [lhs, rhs, out] = [`${m}x${k}x${element}`, `${k}x${n}x${element}`, `${m}x${n}xf32`];
  const attributes = lowering === null ? '' : `{lowering_config = ${lowering}}`;
  return `%r = linalg.matmul ${attributes} ins(%x, %y : tensor<${lhs}>, tensor<${rhs}>) outs(%z : tensor<${out}>) -> tensor<${out}>\n`;
};

/** For each operation of an input, whether the configuration that all operations have landed in a dump. */
function find(input: string, dump: string, target?: string) {
  const decisions = classify(parse(Buffer.from(input)).operations, { m: [1, 48] }).map(
    (tunable): Decision => {
      if (!isTunable(tunable)) return skipped(tunable);
      return { ...hit(tunable, TILES), ...(target !== undefined && { target }) };
    },
  );
  return whatLanded(landedOn([Buffer.from(dump)], decisions, 'inline'));
}

describe('a configuration landed', () => {
  test('in the variant of its target only', () => {
    const variant = (backend: string, operation: string) =>
      `  hal.executable.variant public @v target(<"${backend}", "x">) {\n    ${operation}  }\n`;
    const own = matmul(48, 64, 32, 'f32', LOWERING);
    const dump = `hal.executable public @f {\n${variant('llvm-cpu', own)}${variant('vulkan-spirv', matmul(48, 64, 32))}}`;
    expect(find(matmul(48, 64, 32), dump, 'llvm-cpu')).toEqual([true]);
    expect(find(matmul(48, 64, 32), dump, 'vulkan-spirv')).toEqual([false]);
  });

  test('on the operation of its form, among others', () => {
    const dump = matmul(48, 64, 16, 'f32', OTHER) + matmul(48, 64, 32, 'f32', LOWERING);
    expect(find(matmul(48, 64, 32), dump)).toEqual([true]);
  });

  test('on one with dynamic rows', () => {
    expect(find(matmul('?', 64, 32), matmul('?', 64, 32, 'f32', LOWERING))).toEqual([true]);
  });

  test('on an operation with the same loops whose operands the compiler has changed', () => {
    const dump = matmul(48, 64, 32, 'bf16', LOWERING);
    expect(find(matmul(48, 64, 32), dump)).toEqual([true]);
    expect(find(matmul('?', 64, 32), matmul('?', 64, 32, 'bf16', LOWERING))).toEqual([true]);
  });
});

describe('a configuration is found on a contraction that the conversion of an operand was fused into', () => {
  const fused = (n: number) =>
    `        %11 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8, %5, %6 : tensor<48x32xf32>, tensor<32x${n}xi4>, tensor<${n}xf32>) outs(%10 : tensor<48x${n}xf32>) attrs =  {lowering_config = ${LOWERING}} {
        ^bb0(%in: f32, %in_0: i4, %in_1: f32, %out: f32):
          %12 = arith.uitofp %in_0 : i4 to f32
          %13 = arith.mulf %12, %in_1 : f32
          %14 = arith.mulf %in, %13 : f32
          %15 = arith.addf %out, %14 : f32
          linalg.yield %15 : f32
        } -> tensor<48x${n}xf32>
`;
  test.each([
    [64, true],
    [72, false],
  ])('if it has its sizes: %d columns', (n, landed) => {
    expect(find(matmul(48, 64, 32), fused(n))).toEqual([landed]);
  });
});

describe('a configuration did not land', () => {
  test.each([
    ['other tiles', matmul(48, 64, 32, 'f32', OTHER)],
    ['none at all', matmul(48, 64, 32)],
  ])('on an operation of its form with %s, whatever others have', (_, own) => {
    expect(find(matmul(48, 64, 32), own + matmul(48, 64, 32, 'bf16', LOWERING))).toEqual([false]);
  });

  test('on an operation of another form that wants the same', () => {
    const input = matmul(48, 64, 32) + matmul(48, 64, 32, 'bf16');
    expect(find(input, matmul(48, 64, 32, 'bf16', LOWERING))).toEqual([false, true]);
  });

  test.each([
    ['sizes', matmul(48, 64, 16, 'f32', LOWERING)],
    ['sizes, some of them dynamic', matmul('?', 64, 32, 'f32', LOWERING)],
    [
      'loops',
      matmul(48, 64, 32, 'f32', LOWERING).replace(
        'linalg.matmul',
        'linalg.contract indexing_maps = [affine_map<(n, m, k) -> (m, k)>, affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (m, n)>]',
      ),
    ],
    ['operations', LOWERING],
  ])('where only other %s have it', (_, dump) => {
    expect(find(matmul(48, 64, 32), dump)).toEqual([false]);
  });
});
