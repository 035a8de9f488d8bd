// Tiles of packed operations: the measured code is the code in a program.
// In full after a change of src/backend/llvm-cpu/packed.ts, src/backend/llvm-cpu/render.ts.
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { findPackedForm, packedParts } from '../../src/backend/llvm-cpu/packed.ts';
import { directiveOf } from '../../src/backend/index.ts';
import { preprocessingFlags, preprocessingSpec } from '../../src/spec/preprocessing.ts';
import { tuningSpec, tuningSpecFlags } from '../../src/spec/tuning.ts';
import { buildCandidates, textAfter } from '../../src/measure/build.ts';
import { candidateModule, candidateOf } from '../../src/measure/candidate-module.ts';
import { runTool, type Toolchain } from '../../src/measure/toolchain.ts';
import { compareOutputs, exactAllowance, outputsOf } from '../../src/measure/verify.ts';
import {
  DATA_TILE_CONFIGURATION,
  type DataTileConfiguration,
} from '../../src/backend/llvm-cpu/configuration.ts';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import type { OperationWork } from '../../src/workload/workload.ts';
import { casesOfTier } from '../support/needs.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { toolchain } from '../support/real-tools.ts';
import { matmul, workload } from '../support/workloads.ts';
import { compileTogether, moduleOf, withFillers } from './together.ts';

const transposed = (base: OperationWork): OperationWork => ({
  ...base,
  rhs: { ...base.rhs, dimensions: [1, 2] },
});

const formOf = (tools: Toolchain, shape: OperationWork) =>
  findPackedForm(shape, (configuration, phase) => textAfter(tools, shape, configuration, phase));

async function retuned(tools: Toolchain, shape: OperationWork): Promise<DataTileConfiguration> {
  const form = await formOf(tools, shape);
  if (form === null) throw new Error('not packed');
  return { version: 1, kind: 'data-tile', packed: { ...form, distribution: [2, 3], packing: [4, 64] } };
}

describe('data tiling gives the default’s results, with and without tiles', () => {
  const all: readonly [string, OperationWork][] = [
    ['f32', matmul(127, 255, 511)],
    ['f32 with a transposed rhs', transposed(matmul(127, 255, 61))],
    ['i8', matmul(64, 96, 33, ['i8', 'i8', 'i32'])],
    ['bf16', matmul(64, 96, 33, ['bf16', 'bf16', 'f32'])],
    ['f32, taller than wide', matmul(255, 127, 61)],
    ['f32 with a constant rhs', { ...matmul(96, 127, 61), constantRhs: true }],
  ];
  const shapes = casesOfTier(all, 1);
  let tools: Toolchain;
  let module: string;
  beforeAll(async () => {
    tools = await toolchain(temporaryDirectory());
    const parts = [];
    for (const [part, [, shape]] of shapes.entries()) {
      const own = await retuned(tools, shape);
      const candidates = [DEFAULT_CONFIGURATION, DATA_TILE_CONFIGURATION, own].map((configuration, i) =>
        candidateOf(`c${part}_${i}`, configuration, shape, tools.release),
      );
      parts.push({ workload: shape, candidates });
    }
    module = await compileTogether(tools, parts, moduleOf(parts, withFillers(parts)), 'm');
  });

  test.each(shapes.map(([what, shape], part) => [what, shape, part] as const))(
    '%s',
    async (_, { accumulator: { elementType: type } }, part) => {
      const names = [0, 1, 2].map((i) => `c${part}_${i}`);
      const [expected, ...others] = (await outputsOf(tools, [module], names, 60))!;
      for (const output of others)
        expect(compareOutputs(expected!, output, type, exactAllowance(type))).toMatchObject({
          outcome: 'right',
        });
    },
  );
});

/** A toolchain whose compiler stops at this phase, unless a flag names another phase. Machine code would prove no more. */
function upTo(phase: string, tools: Toolchain): Toolchain {
  const compiler = join(tools.workDirectory, 'compile');
  const script = `case "$*" in *--compile-to=*) ;; *) set -- "$@" --compile-to=${phase} ;; esac`;
  writeFileSync(compiler, `#!/bin/sh\n${script}\nexec '${tools.compiler}' "$@"\n`);
  chmodSync(compiler, 0o755);
  return { ...tools, compiler };
}

/** Compiles a program with an injected configuration, like a build. */
async function compileInjected(
  { workDirectory, release, flags, compiler, signal }: Toolchain,
  program: string,
  shape: OperationWork,
  own: DataTileConfiguration,
  more: readonly string[],
): Promise<void> {
  const loops = [0, 1, 2];
  const annotation = { form: { workload: shape, loops }, ...directiveOf(own, loops, release)! };
  const [source, hints, spec] = ['program.mlir', 'hints.mlir', 'spec.mlir'].map((name) =>
    join(workDirectory, name),
  ) as [string, string, string];
  writeFileSync(source, program);
  writeFileSync(hints, preprocessingSpec([annotation], llvmCpu.wholeProgram!.rules));
  writeFileSync(
    spec,
    tuningSpec(llvmCpu.wholeProgram!.followingRules([{ workload: shape, configuration: own }])),
  );
  const injected = [...preprocessingFlags(hints), ...llvmCpu.wholeProgram!.flags, ...tuningSpecFlags(spec)];
  const { ok, stderr } = await runTool(
    compiler,
    [...flags, ...injected, ...more, source, '-o', join(workDirectory, 'program.vmfb')],
    60,
    signal,
  );
  expect(ok, stderr).toBe(true);
}

test('an operation with a batch, or without packing, has no packed form', async () => {
  const tools = await toolchain(temporaryDirectory());
  expect(await formOf(tools, workload({ batch: 2, m: 64, n: 64, k: 64 }))).toBeNull();
  expect(await formOf(tools, workload({ m: 64, k: 64 }))).toBeNull();
});

test.each(casesOfTier([[[]], [['--iree-opt-level=O2']]], 1))(
  'a candidate gets the same code as a program, with %j',
  async (flags) => {
    const base = await toolchain(temporaryDirectory());
    const tools = { ...upTo('executable-configurations', base), flags: [...base.flags, ...flags] };
    const { workDirectory, release } = tools;
    const shape = matmul(127, 255, 61);
    const own = await retuned(tools, shape);

    const dumps = join(workDirectory, 'dumps');
    const dump = `--iree-hal-dump-executable-configurations-to=${dumps}`;
    const dispatches = () =>
      readdirSync(dumps)
        .map((file) => readFileSync(join(dumps, file), 'utf8'))
        .filter((text) => / linalg\.(mmt4d|pack|unpack) /.test(text))
        .map((text) => text.replace(/@\w+/g, '@'))
        .sort();
    const candidate = candidateOf('main', own, shape, release);
    const build = await buildCandidates({ ...tools, flags: [...tools.flags, dump] }, shape, [candidate], 'm');
    expect([...build.refused]).toEqual([]);
    const measured = dispatches();

    const text = candidateModule(shape, [{ name: 'main', attribute: null }]);
    const program = `func.func @main(%lhs: tensor<127x61xf32>, %rhs: tensor<61x255xf32>) -> tensor<127x255xf32> {
${text.slice(text.indexOf('  %zero = arith.constant 0.0'), text.lastIndexOf('}'))}`;
    await compileInjected(tools, program, shape, own, [dump]);
    expect(measured).toHaveLength(4);
    expect(measured).toEqual(dispatches());
    const { multiply, pack } = packedParts(own.packed!);
    expect(measured.filter((dispatch) => dispatch.includes(multiply!.lowering))).toHaveLength(1);
    expect(measured.filter((dispatch) => dispatch.includes(pack!.lowering))).toHaveLength(2);
  },
);

test('a program compiles with tiles for packing if the producer packs its result', async () => {
  const tools = upTo('executable-targets', await toolchain(temporaryDirectory()));
  const shape = matmul(128, 96, 3072);
  const form = await formOf(tools, shape);
  const own: DataTileConfiguration = {
    version: 1,
    kind: 'data-tile',
    packed: { ...form!, packing: [16, 64] },
  };
  const [wide, narrow] = ['tensor<128x3072xf32>', 'tensor<128x96xf32>'];
  const program = `func.func @main(%a: tensor<128x768xf32>, %b: tensor<768x3072xf32>, %c: tensor<3072x96xf32>) -> ${narrow} {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : ${wide}
    %init = linalg.fill ins(%zero : f32) outs(%empty : ${wide}) -> ${wide}
    %0 = linalg.matmul ins(%a, %b : tensor<128x768xf32>, tensor<768x3072xf32>) outs(%init : ${wide}) -> ${wide}
    %1 = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]
      } ins(%0 : ${wide}) outs(%empty : ${wide}) {
      ^bb0(%in: f32, %out: f32):
        %gate = math.tanh %in : f32
        linalg.yield %gate : f32
      } -> ${wide}
    %none = tensor.empty() : ${narrow}
    %begin = linalg.fill ins(%zero : f32) outs(%none : ${narrow}) -> ${narrow}
    %2 = linalg.matmul ins(%1, %c : ${wide}, tensor<3072x96xf32>) outs(%begin : ${narrow}) -> ${narrow}
    return %2 : ${narrow}
  }`;
  await compileInjected(tools, program, shape, own, []);
});
