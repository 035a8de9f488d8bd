// Small programs of one dispatch, which is tuned as a whole, and the compiler's configuration of that dispatch.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { dispatchSpace } from '../../src/backend/llvm-cpu/dispatch-space.ts';
import { reconfigured } from '../../src/backend/llvm-cpu/render.ts';
import { seededRandom } from '../../src/search/strategy.ts';
import { dispatchAtSizes, type DispatchWork } from '../../src/workload/dispatch/dispatch-work.ts';
import { dispatchWork } from '../../src/workload/dispatch/from-configured.ts';
import { rememberingCompiler } from './remembering-compiler.ts';
import { isReason } from '../../src/system/reason.ts';

export const HOST = ['--iree-hal-target-device=local', '--iree-hal-local-target-device-backends=llvm-cpu'];

/** Bytes of a vector register of such a target, without a CPU. */
const NATIVE_VECTOR_BYTES = 16;

export const SOFTMAX = `func.func @main(%x: tensor<4x100x190xf32>) -> tensor<4x100x190xf32> {
  %e = tensor.empty() : tensor<4x100x190xf32>
  %r = linalg.softmax dimension(2) ins(%x : tensor<4x100x190xf32>) outs(%e : tensor<4x100x190xf32>) -> tensor<4x100x190xf32>
  return %r : tensor<4x100x190xf32>
}
`;

/** A softmax with a dynamic number of rows of dynamic length. */
export const DYNAMIC_SOFTMAX = `func.func @main(%x: tensor<4x?x?xf32>) -> tensor<4x?x?xf32> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rows = tensor.dim %x, %one : tensor<4x?x?xf32>
  %columns = tensor.dim %x, %two : tensor<4x?x?xf32>
  %e = tensor.empty(%rows, %columns) : tensor<4x?x?xf32>
  %r = linalg.softmax dimension(2) ins(%x : tensor<4x?x?xf32>) outs(%e : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  return %r : tensor<4x?x?xf32>
}
`;

/** Four products of a vector and a matrix in a row, each with a bias, and a padded convolution with strides. */
export const STREAMED = `func.func @main(%x: tensor<256xf32>, %bias: tensor<256xf32>, ${[0, 1, 2, 3].map((i) => `%w${i}: tensor<256x256xf32>`).join(', ')}, %image: tensor<8x8x32xf32>, %filter: tensor<32x48xf32>) -> (tensor<256xf32>, tensor<6x6x48xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256xf32>) -> tensor<256xf32>
${[0, 1, 2, 3]
  .map(
    (
      i,
    ) => `  %p${i} = linalg.vecmat ins(${i === 0 ? '%x' : `%y${i - 1}`}, %w${i} : tensor<256xf32>, tensor<256x256xf32>) outs(%i : tensor<256xf32>) -> tensor<256xf32>
  %y${i} = arith.addf %p${i}, %bias : tensor<256xf32>`,
  )
  .join('\n')}
  %exp = math.exp %image : tensor<8x8x32xf32>
  %o = tensor.empty() : tensor<4x4x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x4x48xf32>) -> tensor<4x4x48xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0 * 2, d1 * 2, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%exp, %filter : tensor<8x8x32xf32>, tensor<32x48xf32>) outs(%f : tensor<4x4x48xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %m = arith.mulf %in, %in_0 : f32
    %a = arith.addf %out, %m : f32
    linalg.yield %a : f32
  } -> tensor<4x4x48xf32>
  %padded = tensor.pad %c low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<4x4x48xf32> to tensor<6x6x48xf32>
  return %y3, %padded : tensor<256xf32>, tensor<6x6x48xf32>
}
`;

export const TRANSPOSE = `func.func @main(%x: tensor<301x222xf32>) -> tensor<222x301xf32> {
  %e = tensor.empty() : tensor<222x301xf32>
  %r = linalg.transpose ins(%x : tensor<301x222xf32>) outs(%e : tensor<222x301xf32>) permutation = [1, 0]
  return %r : tensor<222x301xf32>
}
`;

const attentionMap = (results: string) => `affine_map<(d0, d1, d2, d3, d4) -> (${results})>`;
const HEADS = 'tensor<3x60x40xf32>';
const attentionOf = (heads: string, empty: string) => `func.func @main(%x: ${heads}) -> ${heads} {
  %s = arith.constant 0.125 : f32
  ${empty}
  %r = iree_linalg_ext.attention <{indexing_maps = [${['d0, d1, d4', 'd0, d3, d4', 'd0, d3, d2', '', 'd0, d1, d2'].map(attentionMap).join(', ')}]}> ins(%x, %x, %x, %s : ${heads}, ${heads}, ${heads}, f32) outs(%e : ${heads}) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> ${heads}
  return %r : ${heads}
}
`;
export const ATTENTION = attentionOf(HEADS, `%e = tensor.empty() : ${HEADS}`);

/** A dynamic number of queries, and equally many keys. */
const ANY_LENGTH = 'tensor<3x?x40xf32>';
export const DYNAMIC_ATTENTION = attentionOf(
  ANY_LENGTH,
  `%one = arith.constant 1 : index
  %length = tensor.dim %x, %one : ${ANY_LENGTH}
  %e = tensor.empty(%length) : ${ANY_LENGTH}`,
);

/** Gathers rows by computed indices. */
export const GATHER = `func.func @main(%x: tensor<301x222xf32>) -> tensor<256x222xf32> {
  %e = tensor.empty() : tensor<256xi32>
  %rows = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<256xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %seven = arith.constant 7 : index
    %p = arith.muli %i, %seven : index
    %most = arith.constant 301 : index
    %row = arith.remui %p, %most : index
    %r = arith.index_cast %row : index to i32
    linalg.yield %r : i32
  } -> tensor<256xi32>
  %rows_in_memory = util.optimization_barrier %rows : tensor<256xi32>
  %empty = tensor.empty() : tensor<256x222xf32>
  %r = iree_linalg_ext.gather dimension_map = [0] ins(%x, %rows_in_memory : tensor<301x222xf32>, tensor<256xi32>) outs(%empty : tensor<256x222xf32>) -> tensor<256x222xf32>
  return %r : tensor<256x222xf32>
}
`;

/** A dispatch with the compiler's configuration. */
export interface ConfiguredExecutable {
  readonly name: string;
  readonly text: string;
  readonly work: DispatchWork;
}

/** The last dispatch of a program, with a size of 100 for dynamic dimensions. @param flags besides those of the target */
export async function lastConfigured(
  program: string,
  folder: string,
  flags: readonly string[] = [],
): Promise<ConfiguredExecutable> {
  const [input, output] = ['in.mlir', 'configured.mlir'].map((name) => join(folder, name));
  writeFileSync(input!, program);
  const phase = '--compile-to=executable-configurations';
  await execa(rememberingCompiler, [...HOST, ...flags, phase, input!, '-o', output!]);
  const executables = readFileSync(output!, 'latin1').matchAll(
    /^ {2}hal\.executable \w+ @(\S+) [^]*?^ {2}\}$/gm,
  );
  const [text, name] = [...executables].at(-1) as unknown as [string, string];
  const open = dispatchWork(text, { executable: name, digest: '0123456789abcdef', bytes: 1 });
  if (isReason(open)) throw new Error(open.reason);
  const work = dispatchAtSizes(open, { m: [100] });
  if (isReason(work)) throw new Error(work.reason);
  return { name, text, work };
}

/** Configurations with random tiles, each with the text of the dispatch. */
export function withRandomTiles(
  { text, work }: ConfiguredExecutable,
  count: number,
  nativeVectorBytes = NATIVE_VECTOR_BYTES,
) {
  const space = dispatchSpace(work, { nativeVectorBytes, vectorRegisters: 32, threads: 1 });
  const random = seededRandom(1);
  const found = [];
  while (found.length < count) {
    const point = space.knobs.map(({ values }) => Math.floor(random() * values.length));
    const configuration = space.configurationAt(point);
    if (configuration === null || configuration.kind === 'default') continue;
    found.push({ configuration, text: reconfigured(text, work, configuration)! });
  }
  return found;
}
