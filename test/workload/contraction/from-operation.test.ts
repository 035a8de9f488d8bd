import { parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { ownConfiguration } from '../../../src/workload/contraction/from-operation.ts';
import { workloadOf, workloadFlops, workloadKey } from '../../../src/workload/workload.ts';
import { isReason } from '../../../src/system/reason.ts';

/** The workload of the only operation in a function body, or the reason why it has none. */
function of(operation: string, aliases = '') {
  const text = `${aliases}\nfunc.func @main(%a: index) {\n  ${operation}\n  return\n}\n`;
  const { operations, problems } = parse(Buffer.from(text));
  expect(problems).toEqual([]);
  expect(operations).toHaveLength(1);
  const result = workloadOf(operations[0]!);
  return isReason(result)
    ? { skipped: `${result.code}: ${result.reason}`, key: null, loops: null }
    : { skipped: null, key: workloadKey(result.workload), loops: result.loops };
}

const named = (operation: string, lhs: string, rhs: string, out: string) =>
  `%r = linalg.${operation} ins(%x, %y : tensor<${lhs}>, tensor<${rhs}>) outs(%z : tensor<${out}>) -> tensor<${out}>`;
const matmul = (attributes: string, lhs = '8x4xf32', rhs = '4x16xf32', out = '8x16xf32') =>
  named(`matmul ${attributes}`, lhs, rhs, out);
const batchMatmul = named('batch_matmul', '2x8x4xf32', '2x4x16xf32', '2x8x16xf32');
/** @param kinds of the loops: `p` for parallel, `r` for reduction */
function generic(loops: string, kinds: string, maps: readonly string[], types: readonly string[]): string {
  const all = maps.map((map) => `affine_map<(${loops}) -> (${map})>`).join(', ');
  const iterators = Array.from(kinds, (kind) => (kind === 'p' ? '"parallel"' : '"reduction"')).join(', ');
  return `%r = linalg.generic {indexing_maps = [${all}], iterator_types = [${iterators}]}
    ins(%x, %y : tensor<${types[0]}>, tensor<${types[1]}>) outs(%z : tensor<${types[2]}>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<${types[2]}>`;
}

describe('canonical workloads', () => {
  const permuted = generic('k, n, m', 'rpp', ['m, k', 'k, n', 'm, n'], ['8x4xf32', '4x16xf32', '8x16xf32']);
  const five = ['2x3x5x7xf32', '7x5x4xf32', '2x3x4xf32'];
  test.each<[string, string, string]>([
    ['a matmul', matmul(''), 'm=8 n=16 k=4 f32,f32->f32 mk,kn->mn'],
    [
      'a matmul with a transposed rhs',
      matmul(
        'indexing_maps = [affine_map<(i,j,l)->(i,l)>, affine_map<(i,j,l)->(j,l)>, affine_map<(i,j,l)->(i,j)>]',
        '8x4xf32',
        '16x4xf32',
      ),
      'm=8 n=16 k=4 f32,f32->f32 mk,nk->mn',
    ],
    ['mixed precision', matmul('', '8x4xbf16', '4x16xbf16'), 'm=8 n=16 k=4 bf16,bf16->f32 mk,kn->mn'],
    ['a batched matmul', batchMatmul, 'b=2 m=8 n=16 k=4 f32,f32->f32 bmk,bkn->bmn'],
    ['a matvec', named('matvec', '8x4xf32', '4xf32', '8xf32'), 'm=8 k=4 f32,f32->f32 mk,k->m'],
    ['a vecmat', named('vecmat', '4xf32', '4x16xf32', '16xf32'), 'n=16 k=4 f32,f32->f32 k,kn->n'],
    ['a generic with its loops in another order', permuted, 'm=8 n=16 k=4 f32,f32->f32 mk,kn->mn'],
    [
      'two m and two k dimensions',
      generic('a, b, c, d, e', 'ppprr', ['a, b, d, e', 'e, d, c', 'a, b, c'], five),
      'm0=2 m1=3 n=4 k0=5 k1=7 f32,f32->f32 m0m1k0k1,k1k0n->m0m1n',
    ],
  ])('%s', (_, operation, key) => {
    expect(of(operation).key).toBe(`contraction ${key}`);
  });

  test('have the dimension of each loop, reductions innermost', () => {
    expect(of(matmul('')).loops).toEqual([0, 1, 2]);
    expect(of(permuted).loops).toEqual([1, 0, 2]);
  });
});

describe('skipped operations have a reason', () => {
  test.each<[string, string, RegExp]>([
    [
      'a dimension that only one operand knows',
      matmul('', '?x4xf32'),
      /^operation-unclear: .*dynamic in one operand only/,
    ],
    ['an empty dimension', matmul('', '8x0xf32', '0x16xf32'), /^too-little-work: .*empty/],
    ['shapes that contradict', matmul('', '8x4xf32', '5x16xf32'), /contradict/],
    ['an own compilation_info', matmul('{compilation_info = #x.y<z = [1]>}'), /already has compilation_info/],
    [
      'an own lowering_config',
      matmul('{lowering_config = #x.y<z = [1]>}'),
      /^own-configuration: already has lowering_config/,
    ],
    ['a hint for data tiling', matmul('{iree.opt.data_tiling}'), /already has iree.opt.data_tiling/],
    ['an encoding', matmul('', '8x4xf32, #e'), /encoding/],
    [
      'complex numbers',
      matmul('', '8x4xcomplex<f32>', '4x16xcomplex<f32>', '8x16xcomplex<f32>'),
      /elements of this type are not tuned yet: complex<f32>/,
    ],
    [
      'unsigned integers',
      matmul('{cast = #linalg.type_fn<cast_unsigned>}', '8x4xi8', '4x16xi8', '8x16xi32'),
      /^type-unsupported: unsigned/,
    ],
    [
      'packed operands',
      named('mmt4d', '2x4x8x1xf32', '3x4x16x1xf32', '2x3x8x16xf32'),
      /^layout-unsupported: packed operands/,
    ],
    [
      'a convolution',
      named('conv_2d', '9x9xf32', '2x2xf32', '8x8xf32'),
      /^operation-unsupported: convolutions/,
    ],
    [
      'a front end',
      '%r = torch.aten.mm %x, %y : !torch.vtensor<[8,4],f32>, !torch.vtensor<[4,16],f32> -> !torch.vtensor<[8,16],f32>',
      /dialect/,
    ],
    [
      'a sum over a dimension of one operand alone',
      generic('m, n, k', 'ppr', ['m, k', 'n', 'm, n'], ['8x4xf32', '8xf32', '8x8xf32']),
      /^form-unsupported: /,
    ],
    [
      'a convolution-like map',
      generic('a, b, c', 'ppr', ['a + c', 'c, b', 'a, b'], ['11xf32', '4x16xf32', '8x16xf32']),
      /not a plain permutation/,
    ],
  ])('%s', (_, operation, reason) => {
    expect(of(operation).skipped).toMatch(reason);
  });

  test('any configuration of its own skips an operation', () => {
    const { operations } = parse(Buffer.from(matmul('{foo = 1, compilation_info = #x.y<z>, bar}')));
    expect(ownConfiguration(operations[0]!)).toBe('compilation_info');
  });
});

test('an innermost iteration counts as two operations', () => {
  const { operations } = parse(Buffer.from(batchMatmul));
  const result = workloadOf(operations[0]!);
  if (isReason(result)) throw new Error(result.reason);
  expect(workloadFlops(result.workload)).toBe(2 * 2 * 8 * 16 * 4);
});
