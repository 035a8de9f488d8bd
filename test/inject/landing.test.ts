// Every form of operation, injected by each route, is found in the executables that the real compiler makes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyInsertions, parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { describeCompiler, readArguments } from '../../src/compiler/index.ts';
import { skipped, type Decision } from '../../src/decision/decision.ts';
import { classify, isTunable } from '../../src/input/operation.ts';
import { planInjection } from '../../src/inject/plan.ts';
import type { Route } from '../../src/settings/settings.ts';
import { makeSubstitutes } from '../../src/inject/substitute.ts';
import { substituteFlag } from '../../src/inject/substitute-flags.ts';
import { specFlags } from '../../src/inject/spec-flags.ts';
import { proveLanded } from '../../src/inject/proof.ts';
import {
  DATA_TILE_CONFIGURATION,
  type DataTileConfiguration,
  type TileConfiguration,
} from '../../src/backend/llvm-cpu/configuration.ts';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import { llvmCpuSpace } from '../../src/backend/llvm-cpu/tile-space.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { elementTypeConversion } from '../../src/input/conversion.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler } from '../support/real-tools.ts';

const fn = (args: string, result: string, operation: string) =>
  `func.func @main(${args}) -> ${result} {\n  ${operation}\n  return %r : ${result}\n}\n`;
const matmul = (attributes: string, lhs: string, rhs: string) =>
  fn(
    `%x: tensor<${lhs}>, %y: tensor<${rhs}>, %z: tensor<48x64xf32>`,
    'tensor<48x64xf32>',
    `%r = linalg.matmul ${attributes} ins(%x, %y : tensor<${lhs}>, tensor<${rhs}>) outs(%z : tensor<48x64xf32>) -> tensor<48x64xf32>`,
  );
const quoted = `%r = "linalg.matmul"(%x, %y, %z) <{operandSegmentSizes = array<i32: 2, 1>}> ({
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }) : (tensor<48x32xf32>, tensor<32x64xf32>, tensor<48x64xf32>) -> tensor<48x64xf32>`;
const generic = `%r = linalg.generic {indexing_maps = [affine_map<(k, n, m) -> (m, k)>, affine_map<(k, n, m) -> (k, n)>, affine_map<(k, n, m) -> (m, n)>], iterator_types = ["reduction", "parallel", "parallel"]}
    ins(%x, %y : tensor<48x32xf32>, tensor<32x64xf32>) outs(%z : tensor<48x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x64xf32>`;
const three = '%x: tensor<48x32xf32>, %y: tensor<32x64xf32>, %z: tensor<48x64xf32>';

const forms: [string, string][] = [
  ['linalg.matmul', matmul('', '48x32xf32', '32x64xf32')],
  [
    'linalg.matmul with a transposed rhs',
    matmul(
      'indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]',
      '48x32xf32',
      '64x32xf32',
    ),
  ],
  ['linalg.matmul with other attributes', matmul('{foo = "a}b", bar}', '48x32xf32', '32x64xf32')],
  [
    'linalg.matmul in f64, which the compiler demotes',
    matmul('', '48x32xf64', '32x64xf64').replaceAll('f32', 'f64'),
  ],
  ['linalg.matmul in mixed precision', matmul('', '48x32xbf16', '32x64xbf16')],
  ['quoted linalg.matmul', fn(three, 'tensor<48x64xf32>', quoted)],
  ['linalg.generic with its loops in another order', fn(three, 'tensor<48x64xf32>', generic)],
  [
    'linalg.batch_matmul',
    fn(
      '%x: tensor<3x48x32xf32>, %y: tensor<3x32x64xf32>, %z: tensor<3x48x64xf32>',
      'tensor<3x48x64xf32>',
      '%r = linalg.batch_matmul ins(%x, %y : tensor<3x48x32xf32>, tensor<3x32x64xf32>) outs(%z : tensor<3x48x64xf32>) -> tensor<3x48x64xf32>',
    ),
  ],
  [
    'linalg.matvec',
    fn(
      '%x: tensor<48x64xf32>, %y: tensor<64xf32>, %z: tensor<48xf32>',
      'tensor<48xf32>',
      '%r = linalg.matvec ins(%x, %y : tensor<48x64xf32>, tensor<64xf32>) outs(%z : tensor<48xf32>) -> tensor<48xf32>',
    ),
  ],
  [
    'linalg.vecmat',
    fn(
      '%x: tensor<48xf32>, %y: tensor<48x64xf32>, %z: tensor<64xf32>',
      'tensor<64xf32>',
      '%r = linalg.vecmat ins(%x, %y : tensor<48xf32>, tensor<48x64xf32>) outs(%z : tensor<64xf32>) -> tensor<64xf32>',
    ),
  ],
  [
    'a matmul with dynamic rows',
    fn(
      '%x: tensor<?x32xf32>, %y: tensor<32x64xf32>, %z: tensor<?x64xf32>',
      'tensor<?x64xf32>',
      '%r = linalg.matmul ins(%x, %y : tensor<?x32xf32>, tensor<32x64xf32>) outs(%z : tensor<?x64xf32>) -> tensor<?x64xf32>',
    ),
  ],
  [
    'a batched matmul of which nothing is static',
    fn(
      '%x: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>, %z: tensor<?x?x?xf32>',
      'tensor<?x?x?xf32>',
      '%r = linalg.batch_matmul ins(%x, %y : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%z : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>',
    ),
  ],
  [
    'an i8 matmul with i32 accumulators',
    fn(
      '%x: tensor<48x32xi8>, %y: tensor<32x64xi8>, %z: tensor<48x64xi32>',
      'tensor<48x64xi32>',
      '%r = linalg.matmul ins(%x, %y : tensor<48x32xi8>, tensor<32x64xi8>) outs(%z : tensor<48x64xi32>) -> tensor<48x64xi32>',
    ),
  ],
];

const evidence = {
  ratio: 2,
  low: 2,
  high: 2,
  defaultSeconds: 1,
  seconds: 0.5,
  processes: 3,
  repetitions: 9,
  noiseFloor: 0,
  maxError: 0,
  trials: 1,
  tuningSeconds: 1,
  families: ['data-tile', 'tile'],
  complete: true,
};

/** Decisions as if the space's first start had won everywhere. */
function decisionsFor(input: Uint8Array): Decision[] {
  const convert = elementTypeConversion(readArguments([], { kindOf: () => 'value' }));
  const sizes = { batch: [2], m: [1, 48], n: [64], k: [32] };
  return classify(parse(input).operations, sizes, convert).map((tunable): Decision => {
    if (!isTunable(tunable)) return skipped(tunable);
    const space = llvmCpuSpace(tunable.workload, { nativeVectorBytes: 16, threads: 1, wholeProgram: true });
    const configuration = space.configurationAt(space.starts[0]!);
    return {
      place: tunable.place,
      tunable,
      outcome: 'hit',
      reason: '',
      configuration,
      evidence,
      record: null,
    };
  });
}

async function land(text: string, wanted: Route, flags: readonly string[] = [], decide = decisionsFor) {
  const folder = temporaryDirectory();
  const input = Buffer.from(text);
  const { release } = await describeCompiler(compiler.executable, folder);
  const decisions = decide(input);
  const injection = planInjection(decisions, {
    wanted,
    release,
    dataTiling: false,
    ownPreprocessing: false,
    ownPipeline: false,
  });
  if (injection.route === 'none') throw new Error(injection.reason);
  const source = join(folder, 'in.mlir');
  writeFileSync(source, injection.route === 'inline' ? applyInsertions(input, injection.insertions) : input);
  let specs = 0;
  const write = (spec: string | Uint8Array) => {
    const path = join(folder, `spec${specs++}.mlir`);
    writeFileSync(path, spec);
    return path;
  };
  const command = [...HOST_FLAGS, ...flags, source];
  const flagsOf = async () => {
    if (injection.route === 'inline') return [];
    if (injection.route !== 'substitute') return specFlags(injection, write);
    const options = { env: process.env, stdin: undefined, cacheDirectory: folder };
    const made = await makeSubstitutes(compiler.executable, command, injection.entries, release, options);
    return made!.map(({ name, source: edited }) => substituteFlag(name, write(edited)));
  };
  return proveLanded(compiler.executable, [...(await flagsOf()), ...command], decisions, wanted, {
    env: process.env,
    stdin: undefined,
    cacheDirectory: folder,
  });
}

describe.each(['spec', 'preprocess', 'inline', 'substitute'] as const)('by %s', (route) => {
  test.each(forms)('%s', async (_, text) => {
    expect(await land(text, route)).toEqual([true]);
  });

  test('what is meant for dynamic dimensions stays away from static ones', async () => {
    const matmul = (rows: string) =>
      `ins(%x, %y : tensor<${rows}x32xf32>, tensor<32x64xf32>) outs(%z : tensor<${rows}x64xf32>) -> tensor<${rows}x64xf32>`;
    const called = (name: string, rows: string) =>
      `func.func @${name}(%x: tensor<${rows}x32xf32>, %y: tensor<32x64xf32>, %z: tensor<${rows}x64xf32>) -> tensor<${rows}x64xf32> {
  %r = linalg.matmul ${matmul(rows)}
  return %r : tensor<${rows}x64xf32>
}
`;
    const own = (input: Uint8Array) =>
      decisionsFor(input).map((decision, i) => {
        const space = llvmCpuSpace(decision.tunable!.workload, {
          nativeVectorBytes: 16,
          threads: 1,
          wholeProgram: false,
        });
        return { ...decision, configuration: space.configurationAt(space.starts[i]!) };
      });
    expect(await land(called('any', '?') + called('eight', '8'), route, [], own)).toEqual([true, true]);
  });

  test('a configuration that the compiler drops is noticed', async () => {
    // At O2 unit dimensions fold away, and with them whatever was said about the matmul.
    const unit = fn(
      '%x: tensor<1x32xf32>, %y: tensor<32x64xf32>, %z: tensor<1x64xf32>',
      'tensor<1x64xf32>',
      '%r = linalg.matmul ins(%x, %y : tensor<1x32xf32>, tensor<32x64xf32>) outs(%z : tensor<1x64xf32>) -> tensor<1x64xf32>',
    );
    expect(await land(unit, route)).toEqual([true]);
    expect(await land(unit, route, ['--iree-opt-level=O2'])).toEqual([false]);
  });

  test('a configuration that is dropped is not taken for the same one on another operation', async () => {
    const called = (name: string, rows: number) => {
      const [x, y, z] = [`tensor<${rows}x32xf32>`, 'tensor<32x64xf32>', `tensor<${rows}x64xf32>`];
      return `func.func @${name}(%x: ${x}, %y: ${y}, %z: ${z}) -> ${z} {
  %r = linalg.matmul ins(%x, %y : ${x}, ${y}) outs(%z : ${z}) -> ${z}
  return %r : ${z}
}
`;
    };
    const same: TileConfiguration = {
      version: 1,
      kind: 'tile',
      distribution: [16, 32, 0],
      vectorCommonParallel: [4, 16, 0],
      vectorReduction: [0, 0, 2],
      peeling: true,
    };
    const decide = (input: Uint8Array) =>
      decisionsFor(input).map((decision): Decision => ({ ...decision, configuration: same }));
    const both = called('one', 1) + called('many', 48);
    expect(await land(both, route, [], decide)).toEqual([true, true]);
    expect(await land(both, route, ['--iree-opt-level=O2'], decide)).toEqual([false, true]);
  });
});

describe('data tiling', () => {
  const both = fn(
    '%a: tensor<127x255xf32>, %b: tensor<255x63xf32>, %c: tensor<127x63xf32>, %x: tensor<48x32xf32>, %y: tensor<32x64xf32>, %z: tensor<48x64xf32>',
    '(tensor<127x63xf32>, tensor<48x64xf32>)',
    `%p = linalg.matmul ins(%a, %b : tensor<127x255xf32>, tensor<255x63xf32>) outs(%c : tensor<127x63xf32>) -> tensor<127x63xf32>
  %q = linalg.matmul ins(%x, %y : tensor<48x32xf32>, tensor<32x64xf32>) outs(%z : tensor<48x64xf32>) -> tensor<48x64xf32>`,
  ).replace(/return .*/, 'return %p, %q : tensor<127x63xf32>, tensor<48x64xf32>');
  /** The first operation data-tiled, the second on direct tiles or on the default. */
  const decide = (second: 'tile' | 'default') => (input: Uint8Array) =>
    decisionsFor(input).map((decision, i): Decision => ({
      ...decision,
      configuration:
        i === 0
          ? DATA_TILE_CONFIGURATION
          : second === 'tile'
            ? decision.configuration
            : DEFAULT_CONFIGURATION,
    }));

  test('lands beside an operation on direct tiles', async () => {
    expect(await land(both, 'preprocess', [], decide('tile'))).toEqual([true, true]);
  });

  test('leaves an operation that does not want it on the default', async () => {
    const decideFor = decide('default');
    expect(await land(both, 'preprocess', [], decideFor)).toEqual([true, null]);
    // The proof would see it if the second were data-tiled as well.
    const wanted = (input: Uint8Array) =>
      decideFor(input).map((decision): Decision => ({ ...decision, configuration: DATA_TILE_CONFIGURATION }));
    expect(await land(both, 'preprocess', [], wanted)).toEqual([true, true]);
  });
});

describe('tiles of packed operations', () => {
  const packed = (distribution: [number, number]): DataTileConfiguration => ({
    version: 1,
    kind: 'data-tile',
    // Every target packs this f32 operation by rows and columns of its own; these are AVX-512's.
    packed: { inner: [16, 16, 1], swapped: false, distribution, packing: [3, 32] },
  });
  const type = (rows: number, columns: number) => `tensor<${rows}x${columns}xf32>`;
  const program = fn(
    `%a: ${type(100, 61)}, %b: ${type(61, 200)}, %c: ${type(100, 200)}, %x: ${type(48, 32)}, %y: ${type(32, 64)}, %z: ${type(48, 64)}`,
    `(${type(100, 200)}, ${type(48, 64)})`,
    `%p = linalg.matmul ins(%a, %b : ${type(100, 61)}, ${type(61, 200)}) outs(%c : ${type(100, 200)}) -> ${type(100, 200)}
  %q = linalg.matmul ins(%x, %y : ${type(48, 32)}, ${type(32, 64)}) outs(%z : ${type(48, 64)}) -> ${type(48, 64)}`,
  ).replace(/return .*/, `return %p, %q : ${type(100, 200)}, ${type(48, 64)}`);
  const target = ['--iree-llvmcpu-target-cpu=znver4'];
  const decide = (configuration: DataTileConfiguration) => (input: Uint8Array) =>
    decisionsFor(input).map((decision, i) => (i === 0 ? { ...decision, configuration } : decision));

  test('land beside an operation on direct tiles', async () => {
    expect(await land(program, 'preprocess', target, decide(packed([2, 5])))).toEqual([true, true]);
  });

  test('are looked for on the packed operation that they are meant for', async () => {
    // The compiler does not swap the sides: the second operation is packed, and gets no tiles.
    const swapped = { ...packed([2, 4]).packed!, swapped: true };
    const decideFor = (input: Uint8Array) =>
      decisionsFor(input).map((decision, i): Decision => ({
        ...decision,
        configuration: i === 0 ? packed([2, 4]) : { version: 1, kind: 'data-tile', packed: swapped },
      }));
    expect(await land(program, 'preprocess', target, decideFor)).toEqual([true, false]);
  });

  test('are missed where the compiler packs in another form, and the rest lands', async () => {
    const avx2 = ['--iree-llvmcpu-target-cpu=haswell'];
    expect(await land(program, 'preprocess', avx2, decide(packed([2, 5])))).toEqual([false, true]);
    expect(await land(program, 'preprocess', avx2, decide(DATA_TILE_CONFIGURATION))).toEqual([true, true]);
  });
});

describe('a program of many executables', () => {
  // Read in the middle of configuring them, a tuning spec hangs the compiler once in a while.
  const shapes = Array.from({ length: 16 }, (_, i) => [16 + i, 32 + i, 24 + i] as const);
  const type = (rows: number, columns: number) => `tensor<${rows}x${columns}xf32>`;
  const functions = shapes.map(([m, n, k], i) =>
    fn(
      `%x: ${type(m, k)}, %y: ${type(k, n)}, %z: ${type(m, n)}`,
      type(m, n),
      `%r = linalg.matmul ins(%x, %y : ${type(m, k)}, ${type(k, n)}) outs(%z : ${type(m, n)}) -> ${type(m, n)}`,
    ).replace('@main', `@f${i}`),
  );

  test.each(['spec', 'preprocess'] as const)('is configured by %s', async (route) => {
    for (let round = 0; round < 3; round++)
      expect(await land(functions.join(''), route)).toEqual(shapes.map(() => true));
  });
});
